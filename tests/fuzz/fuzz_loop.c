/* A fuzz target given counted inputs: fuzz CORPUS FROM COUNT.
 * Input number i is made of two of the corpus: cut, joined, and a few bytes changed; it depends on i alone, so a
 * search goes on where it was stopped. The corpus is inputs one after another, each with its length in two bytes
 * before it. Every million inputs the number done is printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SEEDS 4096u
#define LONGEST 65535u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t corpus[1u << 24];
static const uint8_t *seeds[MOST_SEEDS];
static uint32_t sizes[MOST_SEEDS], count;

static uint64_t state;

/* splitmix64: equidistributed from any start. */
static uint32_t draw(uint32_t below)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % below);
}

static uint32_t load(const char *name)
{
    FILE *file = fopen(name, "rb");
    const size_t size = file ? fread(corpus, 1, sizeof corpus, file) : 0u;
    for (size_t at = 0; at + 2u <= size && count < MOST_SEEDS; count++) {
        sizes[count] = (uint32_t)corpus[at] | (uint32_t)corpus[at + 1u] << 8;
        seeds[count] = &corpus[at + 2u];
        at += 2u + sizes[count];
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static uint32_t mutated(uint8_t *input)
{
    static const uint8_t odd[] = { 0u, 1u, 0x7Fu, 0x80u, 0xFFu };
    const uint32_t one = draw(count), other = draw(count);
    const uint32_t head = draw(8u) ? draw(sizes[one] + 1u) : sizes[one];
    const uint32_t from = draw(2u) ? (head < sizes[other] ? head : sizes[other]) : draw(sizes[other] + 1u);
    const uint32_t tail = head + (sizes[other] - from) > LONGEST ? LONGEST - head : sizes[other] - from;
    const uint32_t size = head + tail;
    memcpy(input, seeds[one], head);
    memcpy(&input[head], &seeds[other][from], tail);
    for (uint32_t left = size ? draw(5u) : 0u; left > 0u; left--) {
        input[draw(size)] = draw(2u) ? odd[draw(sizeof odd)] : (uint8_t)draw(256u);
    }
    return size;
}

int main(int argc, char **argv)
{
    static uint8_t input[LONGEST];
    if (argc != 4 || load(argv[1]) == 0u) {
        fprintf(stderr, "usage: %s CORPUS FROM COUNT\n", argv[0]);
        return 2;
    }
    const uint64_t from = strtoull(argv[2], NULL, 10), until = from + strtoull(argv[3], NULL, 10);
    for (uint64_t i = from; i < until; i++) {
        state = i;
        (void)LLVMFuzzerTestOneInput(input, mutated(input));
        if ((i + 1u) % 1000000u == 0u || i + 1u == until) {
            printf("%llu\n", (unsigned long long)(i + 1u));
            fflush(stdout);
        }
    }
    return 0;
}
