/* A plugin of QEMU's user mode: counts what the program executes, and offers the count as a file.
 * A reading of the file numbered `fd` by the program gives the count so far in 8 bytes.  What is counted is what
 * QEMU translates one by one: instructions, on Hexagon packets of instructions.
 * The declarations are those of QEMU's plugin interface, version 1, as far as they are used here.
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t plugin_id;
struct block;
typedef void (*on_block_t)(plugin_id id, struct block *block);
typedef void (*on_run_t)(unsigned int cpu, void *context);
typedef void (*on_call_t)(plugin_id id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2,
                          uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, on_block_t callback);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct block *block, on_run_t callback, int flags,
                                                 void *context);
extern void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, on_call_t callback);
extern size_t qemu_plugin_tb_n_insns(const struct block *block);

int qemu_plugin_version = 1;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t executed;
static int64_t read_call; /* number of the system call `read` */
static uint64_t file;
static int pipe_in = -1;

static void on_run(unsigned int cpu, void *context)
{
    (void)cpu;
    executed += (uintptr_t)context;
}

static void on_block(plugin_id id, struct block *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_run, 0, (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void on_call(plugin_id id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                    uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)cpu, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number == read_call && a1 == file && write(pipe_in, &executed, sizeof executed) < 0) {
        abort();
    }
}

/* The value of "name=value" among the arguments. */
static long option(const char *name, int argc, char **argv)
{
    const size_t length = strlen(name);
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') {
            return strtol(&argv[i][length + 1], NULL, 10);
        }
    }
    return -1;
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    int ends[2];
    (void)info;
    read_call = option("read", argc, argv);
    file = (uint64_t)option("fd", argc, argv);
    if (pipe(ends) != 0 || dup2(ends[0], (int)file) < 0) {
        return -1;
    }
    pipe_in = ends[1];
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    return 0;
}
