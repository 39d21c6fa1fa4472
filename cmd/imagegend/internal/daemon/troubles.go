package daemon

import (
	"context"
	"log"
	"log/slog"
	"strings"
)

// newTroubles logs what a server complains of. That somebody spoke no TLS, or broke off, is nothing to look into:
// whoever scans addresses does so all day.
func newTroubles(l *slog.Logger) *log.Logger { return log.New(troubles{l}, "", 0) }

type troubles struct{ log *slog.Logger }

func (t troubles) Write(line []byte) (int, error) {
	message, level := strings.TrimSpace(string(line)), slog.LevelWarn
	if strings.HasPrefix(message, "http: TLS handshake error") {
		level = slog.LevelDebug
	}
	t.log.Log(context.Background(), level, message)
	return len(line), nil
}
