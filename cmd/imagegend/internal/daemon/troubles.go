package daemon

import (
	"context"
	"log"
	"log/slog"
	"strings"
)

// newTroubles returns a log for the errors that an http.Server reports. A failed TLS handshake is logged at the level
// debug, since whoever scans addresses causes them all day.
func newTroubles(l *slog.Logger) *log.Logger { return log.New(troubles{l}, "", 0) }

// troubles writes to a slog.Logger what package log gives it.
type troubles struct{ log *slog.Logger }

// Write receives one line for each error, as package log writes it.
func (t troubles) Write(line []byte) (int, error) {
	message, level := strings.TrimSpace(string(line)), slog.LevelWarn
	if strings.HasPrefix(message, "http: TLS handshake error") {
		level = slog.LevelDebug
	}
	t.log.Log(context.Background(), level, message)
	return len(line), nil
}
