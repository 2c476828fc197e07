//! The agreement between a fuzzer and a target: the mirror of
//! `include/wug.h`.
//!
//! The header ([`HEADER`]) is the text to read: it says who sends what when,
//! who holds the pen at any time, and what a fuzzer must do before a run.
//! Here are the same constants and layouts for Rust. `tests/abi.rs` compiles
//! the header with the machine's compiler and compares all of them, so
//! neither side can drift.
//!
//! Structures are plain and hold no pointers. They live in memory that
//! another, hostile process writes: a reader copies a field once, checks it
//! against the capacity that it chose itself, and only then uses it.

/// The header, as C.
pub const HEADER: &str = include_str!("../include/wug.h");

/// Environment variable with the number of the board's descriptor.
pub const ENV_BOARD: &str = "__WUG_BOARD";
/// Environment variable that chooses the protocol for AFL++: `old` or `v1`.
pub const ENV_FORKSERVER: &str = "WUG_FORKSERVER";
/// Environment variable with AFL++'s coverage map, a System V id.
pub const ENV_AFL_MAP: &str = "__AFL_SHM_ID";
/// Environment variable with AFL++'s shared input, a System V id.
pub const ENV_AFL_INPUT: &str = "__AFL_SHM_FUZZ_ID";
/// Environment variable: how many ids to keep for libraries opened later.
pub const ENV_RESERVE: &str = "WUG_RESERVE";

/// Defines constants and the list of them that the test compares.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: $type = $value;)*
        /// Every constant with its name in C, without `WUG_`.
        pub const CONSTANTS: &[(&str, u64)] = &[$((stringify!($name), $name as u64)),*];
    };
}

constants! {
    /// Version of this agreement, in [`Board::version`].
    ABI_VERSION: u32 = 3;
    /// First word of a board.
    MAGIC: u32 = 0x4247_5557;
    /// The target reads here.
    CONTROL_FD: i32 = 198;
    /// The target writes here.
    STATUS_FD: i32 = 199;
    /// Where a ring for pinned pages is, if the fuzzer hands one over.
    RING_FD: i32 = 195;
    /// The first number that is ours until the fork server starts: a copy of
    /// standard input.
    FIRST_FD: i32 = 194;
    /// The last such number.
    LAST_FD: i32 = 199;
    /// Sent to the fork server to stop the run [`Board::stop_run`].
    STOP_SIGNAL: i32 = 23;

    /// Old protocol: the word carries options.
    OLD_ENABLED: u32 = 0x8000_0001;
    /// Old protocol: bits 1 to 23 are the map's size less one.
    OLD_MAPSIZE: u32 = 0x4000_0000;
    /// Old protocol: a dictionary is offered.
    OLD_AUTODICT: u32 = 0x1000_0000;
    /// Old protocol: inputs can come by shared memory.
    OLD_SHARED_INPUT: u32 = 0x0100_0000;
    /// Old protocol: a larger map cannot be told.
    OLD_MAX_MAPSIZE: u32 = 0x0080_0000;

    /// Protocol v1: first and last word; the fuzzer answers its complement.
    V1_HELLO: u32 = 0x4146_4c01;
    /// Protocol v1: the map's size follows.
    V1_MAPSIZE: u32 = 0x1;
    /// Protocol v1: inputs come by shared memory.
    V1_SHARED_INPUT: u32 = 0x2;
    /// Protocol v1: a dictionary follows, its length first.
    V1_AUTODICT: u32 = 0x800;
    /// Protocol v1: an error, its code in the low bits.
    V1_ERROR: u32 = 0xeffe_0000;
    /// The map is too small; [`Board::map_used`] says what is needed.
    V1_ERROR_MAP_SIZE: u32 = 1;
    /// The map or the board cannot be attached.
    V1_ERROR_MAP: u32 = 8;
    /// The fork server cannot start late; [`Board::late`] says why.
    V1_ERROR_LATE: u32 = 32;

    /// Log comparisons and other events.
    WANT_EVENTS: u32 = 0x1;
    /// Log pairs of blocks.
    WANT_PAIRS: u32 = 0x2;
    /// Record the stack of a crash. Read at start only.
    WANT_CRASH: u32 = 0x4;
    /// A fresh process per run, even of a persistent target. Read at start only.
    WANT_FORK: u32 = 0x8;
    /// Fill [`Board::cpu_ns`] also in persistent mode.
    WANT_CPU_TIME: u32 = 0x10;
    /// Start the fork server where the input begins. Read at start only.
    WANT_LATE: u32 = 0x20;

    /// The target loops over inputs in one process.
    HAS_PERSISTENT: u32 = 0x1;
    /// The target reads inputs from the board.
    HAS_SHARED_INPUT: u32 = 0x2;
    /// At least one module is a traced build.
    HAS_TRACE: u32 = 0x4;
    /// The target says itself when the fork server starts.
    HAS_DEFERRED: u32 = 0x8;
    /// A sanitizer handles crashes: there is no crash record.
    HAS_SANITIZER: u32 = 0x10;
    /// The target takes several inputs by one number.
    HAS_BATCH: u32 = 0x20;
    /// The fork server started where [`Board::late`] says.
    HAS_LATE: u32 = 0x40;

    /// Nothing was said of the place of the fork server.
    LATE_UNSAID: u32 = 0;
    /// It started where it was asked to.
    LATE_SERVES: u32 = 1;
    /// The program itself says where it starts, or loops over inputs.
    LATE_OWN: u32 = 2;
    /// The system cannot watch the program's calls.
    LATE_SYSTEM: u32 = 3;
    /// The input was looked at before the symbol was reached.
    LATE_TOUCHED: u32 = 4;
    /// There was another thread or process.
    LATE_PROCESS: u32 = 5;
    /// It became another program.
    LATE_EXEC: u32 = 6;
    /// It ended.
    LATE_ENDED: u32 = 7;
    /// It had a timer.
    LATE_TIMER: u32 = 8;
    /// It locked a file.
    LATE_LOCK: u32 = 9;
    /// It had a pipe, a socket or a queue of events.
    LATE_PIPE: u32 = 10;
    /// It had memory that a fork shares or leaves out.
    LATE_SHARED: u32 = 11;
    /// It changed files.
    LATE_WRITES: u32 = 12;
    /// It set bounds that would hold for the server.
    LATE_LIMIT: u32 = 13;
    /// It used signals in a way that hides its calls.
    LATE_SIGNAL: u32 = 14;
    /// It had too many files open, or took numbers of ours.
    LATE_DESCRIPTORS: u32 = 15;

    /// Random numbers were drawn before the fork server started.
    NOTE_RANDOM: u32 = 0x1;
    /// The number of the process was asked for.
    NOTE_PROCESS: u32 = 0x2;
    /// The time was asked for.
    NOTE_TIME: u32 = 0x4;
    /// Something was written to standard output or error.
    NOTE_OUTPUT: u32 = 0x8;

    /// The child has not asked for a run yet.
    STATE_STARTING: u32 = 0;
    /// The child waits for a run.
    STATE_IDLE: u32 = 1;
    /// A run is under way.
    STATE_RUNNING: u32 = 2;
    /// The child writes its reply.
    STATE_REPLYING: u32 = 3;
    /// The run ended well, but the target had closed the status pipe.
    STATE_CLOSED: u32 = 4;
    /// The control pipe is at its end.
    STATE_GONE: u32 = 5;

    /// Alignment of regions and of each module's ids.
    MAP_PAGE: u32 = 4096;
    /// Frames that a crash record holds.
    MAX_FRAMES: usize = 64;
    /// Bytes of each text that an event holds.
    TEXT_MAX: usize = 44;
    /// Cases of a switch that an event holds.
    CASES: usize = 11;
    /// Innermost calls that the first of [`Event::near`] is made of.
    NEAR: usize = 3;
    /// The same of the second.
    NEARBY: usize = 5;
    /// Bytes of a module's path.
    PATH_MAX: usize = 224;

    /// `a` was compared with `b`.
    EVENT_COMPARE: u8 = 1;
    /// `a` was looked up among the cases of a switch.
    EVENT_SWITCH: u8 = 2;
    /// Text `x` was compared with text `y`.
    EVENT_TEXT: u8 = 3;
    /// Is `a` in a class of characters?
    EVENT_CLASS: u8 = 4;
    /// `a` was searched in text `x`.
    EVENT_SET: u8 = 5;
    /// `a` was turned into `b`.
    EVENT_FOLD: u8 = 6;
    /// The program read at the end of its input.
    EVENT_END: u8 = 7;
    /// `a` was compared with `b`, both the bits of doubles.
    EVENT_FLOAT: u8 = 8;

    /// The first operand is a constant of the program.
    FLAG_CONSTANT: u8 = 0x1;
    /// The answer was yes.
    FLAG_EQUAL: u8 = 0x2;

    /// `strcmp`.
    FN_STRCMP: u8 = 1;
    /// `strncmp`.
    FN_STRNCMP: u8 = 2;
    /// `strcasecmp`.
    FN_STRCASECMP: u8 = 3;
    /// `strncasecmp`.
    FN_STRNCASECMP: u8 = 4;
    /// `memcmp`, `bcmp`.
    FN_MEMCMP: u8 = 5;
    /// `strstr`.
    FN_STRSTR: u8 = 6;
    /// `strcasestr`.
    FN_STRCASESTR: u8 = 7;
    /// `memmem`.
    FN_MEMMEM: u8 = 8;
    /// `strchr`, `index`.
    FN_STRCHR: u8 = 9;
    /// `strrchr`, `rindex`.
    FN_STRRCHR: u8 = 10;
    /// `memchr`.
    FN_MEMCHR: u8 = 11;
    /// `strspn`.
    FN_STRSPN: u8 = 12;
    /// `strcspn`.
    FN_STRCSPN: u8 = 13;
    /// `strpbrk`.
    FN_STRPBRK: u8 = 14;
    /// `read`.
    FN_READ: u8 = 20;
    /// `fread`.
    FN_FREAD: u8 = 21;
    /// `fgetc`, `getc`, `getchar`.
    FN_FGETC: u8 = 22;
    /// `fgets`.
    FN_FGETS: u8 = 23;
    /// `feof`, when it said yes.
    FN_FEOF: u8 = 24;
    /// `getline`, `getdelim`.
    FN_GETLINE: u8 = 25;

    /// `isalnum`.
    CLASS_ALNUM: u8 = 1;
    /// `isalpha`.
    CLASS_ALPHA: u8 = 2;
    /// `isblank`.
    CLASS_BLANK: u8 = 3;
    /// `iscntrl`.
    CLASS_CNTRL: u8 = 4;
    /// `isdigit`.
    CLASS_DIGIT: u8 = 5;
    /// `isgraph`.
    CLASS_GRAPH: u8 = 6;
    /// `islower`.
    CLASS_LOWER: u8 = 7;
    /// `isprint`.
    CLASS_PRINT: u8 = 8;
    /// `ispunct`.
    CLASS_PUNCT: u8 = 9;
    /// `isspace`.
    CLASS_SPACE: u8 = 10;
    /// `isupper`.
    CLASS_UPPER: u8 = 11;
    /// `isxdigit`.
    CLASS_XDIGIT: u8 = 12;
}

/// A part of the segment, in bytes from its beginning; both are multiples of
/// [`MAP_PAGE`]. Capacity 0: absent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub capacity: u64,
}

/// How a run died, recorded by the handler of fatal signals.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Crash {
    /// The signal; 0: nothing recorded. The fuzzer clears it.
    pub signal: u32,
    /// `si_code`.
    pub code: i32,
    /// `si_addr`, for signals that have one.
    pub address: u64,
    /// How many of `frames` are set.
    pub frame_count: u32,
    /// Frames found, also beyond [`MAX_FRAMES`].
    pub depth: u32,
    /// Absolute addresses, innermost first.
    pub frames: [u64; MAX_FRAMES],
}

/// The beginning of the shared segment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`ABI_VERSION`].
    pub version: u32,
    /// Size of the whole segment.
    pub size: u64,
    /// A count of hits per id, a byte each.
    pub map: Region,
    /// The input's bytes.
    pub input: Region,
    /// A ring of [`Event`].
    pub events: Region,
    /// A byte per pair of blocks, 1 when seen; the capacity is a power of two.
    pub pairs: Region,
    /// The pairs seen, `u32` each, in order of the first time.
    pub pair_order: Region,
    /// Constants of the program: a length byte, then that many bytes, and so on.
    pub dictionary: Region,
    /// [`Module`]s.
    pub modules: Region,
    /// `WANT_*`.
    pub wants: u32,
    /// Bytes of the input.
    pub input_length: u32,
    /// The run to stop, see [`STOP_SIGNAL`].
    pub stop_run: u32,
    /// Where the fork server can write inputs, which its children read; 0: nowhere.
    pub input_fd: u32,
    /// `HAS_*`, valid after the handshake.
    pub features: u32,
    /// Ids in use: the fuzzer need not look at bytes beyond. Can grow.
    pub map_used: u32,
    /// Modules in use. Can grow.
    pub module_count: u32,
    /// Bytes of the dictionary. Can grow.
    pub dictionary_used: u32,
    /// `STATE_*`.
    pub state: u32,
    /// The run whose number was read last.
    pub run: u32,
    /// The run that ended last.
    pub finished: u32,
    /// The child, in the target's own pid namespace.
    pub child_pid: i32,
    /// CPU time of the run; 0: not measured.
    pub cpu_ns: u64,
    /// Events of this run; the ring holds the last of them.
    pub event_count: u32,
    /// Distinct pairs of this run.
    pub pair_count: u32,
    /// The deepest stack that an event saw, in frames.
    pub max_depth: u32,
    /// Unused, 0.
    pub reserved2: u32,
    /// How the run died.
    pub crash: Crash,
    /// Inputs to be run one after the other: a length and the bytes of each.
    pub batch: Region,
    /// Classes of counts that are not new, as bits, for each id.
    pub seen: Region,
    /// How many inputs there are in `batch`; 0 for one in `input`.
    pub batch_count: u32,
    /// The input that is run, or was run last.
    pub batch_at: u32,
    /// A bit for each exit code that counts as a crash.
    pub crash_codes: [u8; 32],
    /// The device of the input's file.
    pub input_device: u64,
    /// Its inode.
    pub input_inode: u64,
    /// The function before which the fork server starts, counted from the
    /// executable's base; 0: where the input begins.
    pub fork_site: u64,
    /// `LATE_*`.
    pub late: u32,
    /// The system call at which the fork server started, or gave up.
    pub late_call: u32,
    /// `NOTE_*`.
    pub late_notes: u32,
    /// System calls before.
    pub late_calls: u32,
}

/// An instrumented executable or library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// Where its ELF header is.
    pub base: u64,
    /// The end of its last loaded byte.
    pub end: u64,
    /// Its first id, a multiple of [`MAP_PAGE`].
    pub first_id: u32,
    /// How many ids it has.
    pub ids: u32,
    /// 1 once the fields are set.
    pub ready: u32,
    /// Unused, 0.
    pub reserved: u32,
    /// Ends with 0; empty for the executable.
    pub path: [u8; PATH_MAX],
}

/// One event of a traced build.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Event {
    /// `EVENT_*`; 0: never finished.
    pub kind: u8,
    /// Bytes of an operand.
    pub size: u8,
    /// `FLAG_*`.
    pub flags: u8,
    /// `FN_*`, `CLASS_*`, or the part of a switch.
    pub function: u8,
    /// The return address, counted from the module's base.
    pub site: u32,
    /// Index into the modules.
    pub module: u16,
    /// Frames on the stack.
    pub depth: u16,
    /// [`Board::pair_count`] at that time.
    pub pairs: u32,
    /// A hash of all return addresses on the stack, the same in every process.
    pub context: u32,
    /// The same of the [`NEAR`] and of the [`NEARBY`] innermost calls that led
    /// to the site.
    pub near: [u16; 2],
    /// First operand, by kind.
    pub a: u64,
    /// Second operand, by kind.
    pub b: u64,
    /// Cases or texts, by kind.
    pub of: Payload,
}

/// What an event says besides its two operands.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Payload {
    /// Of [`EVENT_SWITCH`].
    pub cases: [u64; CASES],
    /// Of [`EVENT_TEXT`] and [`EVENT_SET`].
    pub text: Text,
}

/// Two texts, cut at [`TEXT_MAX`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    /// The first.
    pub x: [u8; TEXT_MAX],
    /// The second.
    pub y: [u8; TEXT_MAX],
}

impl Event {
    /// Cases of a switch that this event holds.
    pub fn cases(&self) -> &[u64] {
        if self.kind != EVENT_SWITCH {
            return &[];
        }
        let first = u64::from(self.function) * CASES as u64;
        let count = self.b.saturating_sub(first).min(CASES as u64) as usize;
        // SAFETY: every bit pattern is a valid payload of either kind.
        unsafe { &self.of.cases[..count] }
    }

    /// The first text, as far as it was kept.
    pub fn x(&self) -> &[u8] {
        let length = match self.kind {
            EVENT_TEXT => self.a,
            EVENT_SET => self.b,
            _ => 0,
        };
        // SAFETY: as above.
        unsafe { &self.of.text.x[..length.min(TEXT_MAX as u64) as usize] }
    }

    /// The second text, as far as it was kept.
    pub fn y(&self) -> &[u8] {
        let length = if self.kind == EVENT_TEXT { self.b } else { 0 };
        // SAFETY: as above.
        unsafe { &self.of.text.y[..length.min(TEXT_MAX as u64) as usize] }
    }
}

/// Is a byte in a class of characters, in the C locale?
pub fn in_class(class: u8, byte: u8) -> bool {
    match class {
        CLASS_ALNUM => byte.is_ascii_alphanumeric(),
        CLASS_ALPHA => byte.is_ascii_alphabetic(),
        CLASS_BLANK => matches!(byte, b' ' | b'\t'),
        CLASS_CNTRL => byte.is_ascii_control(),
        CLASS_DIGIT => byte.is_ascii_digit(),
        CLASS_GRAPH => byte.is_ascii_graphic(),
        CLASS_LOWER => byte.is_ascii_lowercase(),
        CLASS_PRINT => byte == b' ' || byte.is_ascii_graphic(),
        CLASS_PUNCT => byte.is_ascii_punctuation(),
        CLASS_SPACE => matches!(byte, b' ' | b'\t'..=b'\r'),
        CLASS_UPPER => byte.is_ascii_uppercase(),
        CLASS_XDIGIT => byte.is_ascii_hexdigit(),
        _ => false,
    }
}
