// A bot in C: it hits until 20 points are at stake, and gives cards to the first seat that may have them.
//
//   cc -O2 -o bot bot.c && flip7 bridge -- ./bot
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// after is what follows a text for the first time. What a line says first is about the bot's own seat.
static const char *after(const char *line, const char *text) {
    const char *found = strstr(line, text);
    return found ? found + strlen(text) : "";
}

int main(void) {
    static char line[65536]; // no line is longer
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("{\"ready\":true}");
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "{\"type\":\"request\",", 18) != 0) continue; // news, which want no answer
        const char *id = after(line, "\"id\":\"");
        const char *decision = after(line, "\"legal\":[\"");
        int points = atoi(after(line, "\"points\":"));
        if (strncmp(decision, "hit", 3) == 0 && points >= 20) decision = "stay\"";
        printf("{\"id\":\"%.*s\",\"decision\":\"%.*s\"}\n", (int)strcspn(id, "\""), id, (int)strcspn(decision, "\""), decision);
    }
}
