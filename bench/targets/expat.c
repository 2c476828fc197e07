/* Reads a document of XML, with all that a user can listen to. */
#include <stddef.h>
#include <stdint.h>
#include "expat.h"

static void start(void *unused, const XML_Char *name, const XML_Char **attributes) {
    (void)unused, (void)name, (void)attributes;
}
static void end(void *unused, const XML_Char *name) { (void)unused, (void)name; }
static void text(void *unused, const XML_Char *data, int size) { (void)unused, (void)data, (void)size; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    XML_Parser parser = XML_ParserCreateNS(NULL, ':');
    if (!parser) return 0;
    XML_SetElementHandler(parser, start, end);
    XML_SetCharacterDataHandler(parser, text);
    XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_ALWAYS);
    XML_Parse(parser, (const char *)data, (int)size, 1);
    XML_ParserFree(parser);
    return 0;
}
