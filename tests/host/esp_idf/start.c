/* ESP-IDF starts app_main() in a task. */
void app_main(void);

int main(void)
{
    app_main();
    return 0;
}
