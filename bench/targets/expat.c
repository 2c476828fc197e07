/* Reads a document of XML, with all that a user can listen to. */
#include <stddef.h>
#include <stdint.h>
#include "expat.h"

/* Only where documents are counted (deep.c). */
__attribute__((weak)) void deep_begin(void) {}
__attribute__((weak)) void deep_start(const char *name) { (void)name; }
__attribute__((weak)) void deep_end(void) {}
__attribute__((weak)) void deep_document(int well_formed) { (void)well_formed; }

static void start(void *unused, const XML_Char *name, const XML_Char **attributes) {
    (void)unused, (void)attributes;
    deep_start(name);
}
static void end(void *unused, const XML_Char *name) {
    (void)unused, (void)name;
    deep_end();
}
static void text(void *unused, const XML_Char *data, int size) { (void)unused, (void)data, (void)size; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    XML_Parser parser = XML_ParserCreateNS(NULL, ':');
    if (!parser) return 0;
    XML_SetElementHandler(parser, start, end);
    XML_SetCharacterDataHandler(parser, text);
    XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_ALWAYS);
    deep_begin();
    deep_document(XML_Parse(parser, (const char *)data, (int)size, 1) == XML_STATUS_OK);
    XML_ParserFree(parser);
    return 0;
}
