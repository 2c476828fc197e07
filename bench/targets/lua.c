/* Loads and runs a program of Lua, for a bounded number of instructions and
   with those libraries alone that reach nothing outside. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

static const luaL_Reg libraries[] = {
    { LUA_GNAME, luaopen_base },         { LUA_TABLIBNAME, luaopen_table }, { LUA_STRLIBNAME, luaopen_string },
    { LUA_MATHLIBNAME, luaopen_math },   { LUA_UTF8LIBNAME, luaopen_utf8 }, { LUA_COLIBNAME, luaopen_coroutine },
};
static size_t used;

static void *allocate(void *unused, void *old, size_t before, size_t after) {
    (void)unused;
    if (!old) before = 0;
    if (after > before && used + (after - before) > (size_t)64 << 20) return NULL;
    if (!after) {
        free(old);
        used -= before;
        return NULL;
    }
    void *new = realloc(old, after);
    if (new) used += after - before;
    return new;
}

static void enough(lua_State *state, lua_Debug *where) {
    (void)where;
    luaL_error(state, "enough");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    used = 0;
    lua_State *state = lua_newstate(allocate, NULL);
    if (!state) return 0;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(state, libraries[i].name, libraries[i].func, 1);
        lua_pop(state, 1);
    }
    lua_sethook(state, enough, LUA_MASKCOUNT, 20000);
    if (luaL_loadbufferx(state, (const char *)data, size, "=input", "t") == LUA_OK) lua_pcall(state, 0, 0, 0);
    lua_close(state);
    return 0;
}
