/* printk() is printf() here; a line is written at once, as a console does it. */
#ifndef KC_STANDIN_ZEPHYR_PRINTK_H
#define KC_STANDIN_ZEPHYR_PRINTK_H

#include <stdio.h>

#define printk(...) (printf(__VA_ARGS__), fflush(stdout))

#endif
