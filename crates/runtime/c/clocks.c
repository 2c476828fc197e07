/* Makes system calls of the questions that the system answers in the memory of
 * a process (the vDSO: time, mostly), so that they are seen: the first bytes of
 * its functions are replaced until watching ends. Where that is not permitted,
 * they are not seen, and nothing else is lost. */
#define _GNU_SOURCE
#include "late.h"

#ifdef WUG_CAN_BE_LATE
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* mov $number, %eax; syscall; ret */
#define CODE 8
#define MOST 8
#define MOST_PAGES 16
static const struct {
    const char *name;
    int number;
} questions[] = {
    {"__vdso_clock_gettime", SYS_clock_gettime},
    {"__vdso_gettimeofday", SYS_gettimeofday},
    {"__vdso_time", SYS_time},
    {"__vdso_getrandom", SYS_getrandom},
};
static struct {
    uint8_t *at;
    uint8_t was[CODE];
} changed[MOST];
static unsigned count;
static const void *vdso;

/* The mapping cannot be cut: its rights change as a whole, and its size is
 * found by trying. */
static int set_rights(const void *start, int rights) {
    for (size_t pages = 1; pages <= MOST_PAGES; pages++)
        if (!GATE4(SYS_mprotect, start, pages * WUG_MAP_PAGE, rights, 0)) return 1;
    return 0;
}

static void replace(uint8_t *at, int number) {
    uint8_t code[CODE] = {0xb8, (uint8_t)number, (uint8_t)(number >> 8), 0, 0, 0x0f, 0x05, 0xc3};
    if (count == MOST) return;
    changed[count].at = at;
    memcpy(changed[count++].was, at, CODE);
    memcpy(at, code, CODE);
}

/* The symbols lie between their table and that of their names. */
HIDDEN void wug_clocks_watch(void) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    if (!head) return;
    const Elf64_Phdr *parts = (const Elf64_Phdr *)((const uint8_t *)head + head->e_phoff);
    const Elf64_Dyn *dynamic = 0;
    intptr_t shift = 0;
    for (int i = 0; i < head->e_phnum; i++) {
        if (parts[i].p_type == PT_LOAD) shift = (intptr_t)head + (intptr_t)parts[i].p_offset - (intptr_t)parts[i].p_vaddr;
        if (parts[i].p_type == PT_DYNAMIC) dynamic = (const Elf64_Dyn *)((const uint8_t *)head + parts[i].p_offset);
    }
    const Elf64_Sym *symbols = 0;
    const char *names = 0;
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym *)(shift + (intptr_t)dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_STRTAB) names = (const char *)(shift + (intptr_t)dynamic->d_un.d_ptr);
    }
    if (!symbols || !names || (const char *)symbols > names) return;
    if (!set_rights(head, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    vdso = head;
    for (const Elf64_Sym *s = symbols; (const char *)(s + 1) <= names; s++)
        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
            if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_size < CODE) continue;
            if (!strcmp(names + s->st_name, questions[i].name)) replace((uint8_t *)(shift + (intptr_t)s->st_value), questions[i].number);
        }
    set_rights(head, PROT_READ | PROT_EXEC);
}

HIDDEN void wug_clocks_release(void) {
    if (!vdso || !set_rights(vdso, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    for (; count; count--) memcpy(changed[count - 1].at, changed[count - 1].was, CODE);
    set_rights(vdso, PROT_READ | PROT_EXEC);
}
#endif
