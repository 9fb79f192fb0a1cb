/* What the programs of this system on a chip need besides the driver: cores, interrupts, the console. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "kc_core.h"

enum { SOC_TRAINER, SOC_PREDICTOR, SOC_LEARNER, SOC_CORES };

/* Open the driver of a core, compare its identity, enable its interrupts, and let it accept beats. */
const kc_core_t *soc_open(uint32_t number, uint32_t kind, uint32_t abi, const uint32_t plan_hash[8]);

/* Sleep until the core has raised one of the causes (KC_CORE_IRQ_STATUS_*_MASK) or an error; return what was raised. */
uint32_t soc_wait(uint32_t number, uint32_t causes);

/* Print a tag and words in hexadecimal, one line per word. */
void soc_print(const char *tag, const uint32_t *words, size_t count);

/* End with a code if a result is not the expected one. */
void soc_expect(int32_t found, int32_t expected, int code);
void soc_exit(int code) __attribute__((noreturn));

#endif
