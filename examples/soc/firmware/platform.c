/* The four functions that the driver asks for, the interrupt, and the console. */
#include "platform.h"

#define CONSOLE (*(volatile uint32_t *)0x10000000u)
#define EXIT (*(volatile uint32_t *)0x10000004u)
#define STREAMS(core) ((volatile uint32_t *)(0x20000000u + 0x100u * (core)))
#define REGISTERS(core) ((volatile uint32_t *)(0x30000000u + 0x100u * (core)))
#define POLLS 10000u

typedef struct {
    volatile uint32_t *registers, *streams;
} place_t;

static place_t places[SOC_CORES];
static kc_core_t cores[SOC_CORES];
static volatile uint32_t raised[SOC_CORES];

static uint32_t read_register(void *context, uint32_t offset)
{
    return ((place_t *)context)->registers[offset / 4u];
}

static void write_register(void *context, uint32_t offset, uint32_t value)
{
    ((place_t *)context)->registers[offset / 4u] = value;
}

static int wait_until_accepted(const place_t *at)
{
    uint32_t polls;

    for (polls = POLLS; polls > 0u; polls--) {
        if ((at->streams[0] & 1u) == 0u) {
            return 0;
        }
    }
    return -1;
}

static int send_frame(void *context, uint32_t stream, const uint32_t *words, size_t count, uint32_t user)
{
    const place_t *at = context;
    size_t i;

    for (i = 0; i < count; i++) {
        if (wait_until_accepted(at) != 0) {
            return -1;
        }
        at->streams[1] = stream << 8 | user << 1 | (i + 1u == count ? 1u : 0u);
        at->streams[0] = words[i];
    }
    return wait_until_accepted(at);
}

static int receive_frame(void *context, uint32_t stream, uint32_t *words, size_t room, size_t *count, uint32_t *user)
{
    const place_t *at = context;
    volatile uint32_t *oldest = &at->streams[2u + 2u * stream];
    uint32_t polls = POLLS;

    for (*count = 0; *count < room;) {
        const uint32_t flags = oldest[0];

        if ((flags & 1u) != 0u) {
            *user = flags >> 2;
            words[(*count)++] = oldest[1];
            if ((flags & 2u) != 0u) {
                return 0;
            }
        } else if (--polls == 0u) {
            return -1;
        }
    }
    return -1;
}

/* Exchange the mask of the interrupts, a one masks; wait until one is pending, masked or not. */
static void mask_interrupts(uint32_t mask)
{
    __asm__ volatile(".insn r 0x0b, 6, 3, x0, %0, x0" : : "r"(mask) : "memory");
}

static void wait_for_interrupt(void)
{
    uint32_t pending;

    __asm__ volatile(".insn r 0x0b, 4, 4, %0, x0, x0" : "=r"(pending) : : "memory");
}

/* The interrupt is a level: reading its causes clears them. */
void soc_interrupt(void);
void soc_interrupt(void)
{
    uint32_t number;

    for (number = 0; number < SOC_CORES; number++) {
        if (cores[number].context != NULL) {
            raised[number] |= kc_core_irq(&cores[number]);
        }
    }
}

const kc_core_t *soc_open(uint32_t number, uint32_t kind, uint32_t abi, const uint32_t plan_hash[8])
{
    kc_core_t *core = &cores[number];

    places[number].registers = REGISTERS(number);
    places[number].streams = STREAMS(number);
    core->read = read_register;
    core->write = write_register;
    core->send = send_frame;
    core->receive = receive_frame;
    core->context = &places[number];
    soc_expect(kc_core_probe(core, kind, abi, plan_hash), KC_CORE_OK, 2);
    kc_core_irq_enable(core, KC_CORE_IRQ_STATUS_FRAME_MASK | KC_CORE_IRQ_STATUS_ERROR_MASK | KC_CORE_IRQ_STATUS_STATE_MASK);
    kc_core_start(core);
    return core;
}

uint32_t soc_wait(uint32_t number, uint32_t causes)
{
    for (;;) {
        uint32_t found;

        mask_interrupts(~0u);   /* an interrupt between test and sleep would be slept through */
        found = raised[number];
        if ((found & (causes | KC_CORE_IRQ_STATUS_ERROR_MASK)) != 0u) {
            raised[number] = 0u;
            return found;
        }
        wait_for_interrupt();
        mask_interrupts(0u);    /* soc_interrupt() runs here */
    }
}

void soc_print(const char *tag, const uint32_t *words, size_t count)
{
    for (; count > 0u; count--, words++) {
        const char *letter;
        int shift;

        for (letter = tag; *letter != '\0'; letter++) {
            CONSOLE = (uint32_t)(unsigned char)*letter;
        }
        CONSOLE = ' ';
        for (shift = 28; shift >= 0; shift -= 4) {
            CONSOLE = (uint32_t)(unsigned char)"0123456789abcdef"[*words >> shift & 15u];
        }
        CONSOLE = '\n';
    }
}

void soc_expect(int32_t found, int32_t expected, int code)
{
    if (found != expected) {
        soc_print("unexpected", (const uint32_t *)&found, 1);
        soc_exit(code);
    }
}

void soc_exit(int code)
{
    for (;;) {
        EXIT = (uint32_t)code;
    }
}
