/* The functions of Zephyr's kernel that the programs of packages call, as its documentation has them. The timer is
 * a signal of this machine, so that its function interrupts the program as an interrupt does. */
#ifndef KC_STANDIN_ZEPHYR_KERNEL_H
#define KC_STANDIN_ZEPHYR_KERNEL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct { int64_t ms; } k_timeout_t;
struct k_timer;
typedef void (*k_timer_expiry_t)(struct k_timer *timer);
struct k_timer { k_timer_expiry_t expiry; };
struct k_sem { volatile sig_atomic_t count; int limit; };

#define K_MSEC(t) ((k_timeout_t){ t })
#define K_FOREVER ((k_timeout_t){ -1 })
#define K_TIMER_DEFINE(name, expiry_function, stop_function) struct k_timer name = { expiry_function }
#define K_SEM_DEFINE(name, initial, most) struct k_sem name = { initial, most }

static struct k_timer *kc_standin_timer;

static inline void kc_standin_interrupt(int number)
{
    (void)number;
    kc_standin_timer->expiry(kc_standin_timer);
}

static inline void k_timer_start(struct k_timer *timer, k_timeout_t duration, k_timeout_t period)
{
    struct sigaction action;
    const struct itimerval each = { { 0, (suseconds_t)period.ms * 1000 }, { 0, (suseconds_t)duration.ms * 1000 } };

    kc_standin_timer = timer;
    memset(&action, 0, sizeof action);
    action.sa_handler = kc_standin_interrupt;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &each, NULL);
}

static inline void k_sem_give(struct k_sem *sem)
{
    if (sem->count < sem->limit) {
        sem->count = sem->count + 1;
    }
}

static inline int k_sem_take(struct k_sem *sem, k_timeout_t timeout)
{
    sigset_t blocked, before;

    (void)timeout;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGALRM);
    (void)sigprocmask(SIG_BLOCK, &blocked, &before);
    while (sem->count == 0) {
        (void)sigsuspend(&before);
    }
    sem->count = sem->count - 1;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return 0;
}

/* The cycle counter: that of a clock of KC_STANDIN_HZ, of which 32 bits are left. */
#ifndef KC_STANDIN_HZ
#define KC_STANDIN_HZ 64000000u
#endif
#define sys_clock_hw_cycles_per_sec() KC_STANDIN_HZ

static inline uint64_t kc_standin_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int64_t k_uptime_get(void)
{
    return (int64_t)(kc_standin_ns() / 1000000u);
}

static inline uint32_t k_cycle_get_32(void)
{
    return (uint32_t)((unsigned __int128)kc_standin_ns() * KC_STANDIN_HZ / 1000000000u);
}

static inline uint64_t k_cyc_to_ns_floor64(uint64_t cycles)
{
    return cycles * 1000000000u / KC_STANDIN_HZ;
}

#endif
