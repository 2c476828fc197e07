/* Lua: compiles a chunk, and does not run it. The seed of its table of
 * strings is fixed, so that runs repeat. */
#include "arena.h"
#include "lauxlib.h"
#include "lua.h"
#include <stdint.h>

static void *resize(void *unused, void *old, size_t old_size, size_t size) {
    (void)unused;
    return size ? arena_resize(old, old ? old_size : 0, size) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *text, size_t size) {
    static lua_State *state;
    if (!state) {
        state = lua_newstate(resize, 0);
        if (!state || !arena_keep()) abort();
    }
    arena_put_back();
    return luaL_loadbufferx(state, (const char *)text, size, "=text", "t") == LUA_OK ? 0 : -1;
}
