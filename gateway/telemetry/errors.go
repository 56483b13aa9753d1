package telemetry

import (
	"log/slog"
	"regexp"
	"sync"
	"time"
)

// errorLogInterval is the least time between two lines about failed exports: a
// collector that is down fails every few seconds, for as long as it is down.
const errorLogInterval = time.Minute

// errorLog is the SDK's error handler.
type errorLog struct {
	logger *slog.Logger

	mu         sync.Mutex // guards what follows
	last       time.Time
	suppressed int
}

func newErrorLog(logger *slog.Logger) *errorLog { return &errorLog{logger: logger} }

// Handle logs the error, or counts it if the last line is less than
// errorLogInterval old; the next line says how many were counted.
func (l *errorLog) Handle(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	if now := time.Now(); l.last.IsZero() || now.Sub(l.last) >= errorLogInterval {
		suppressed := l.suppressed
		l.last, l.suppressed = now, 0
		l.mu.Unlock()
		l.logger.Warn("telemetry was not exported; records are not affected",
			"error", hidePaths(err.Error()), "suppressed", suppressed)
		return
	}
	l.suppressed++
	l.mu.Unlock()
}

var urlWithPath = regexp.MustCompile(`(https?://)(?:[^\s/?#"'@]*@)?([^\s/?#"']*)[^\s"']*`)

// hidePaths keeps of each URL in the text of an exporter's error the scheme,
// host and port: some vendors put the token of an account into the path.
func hidePaths(text string) string { return urlWithPath.ReplaceAllString(text, "$1$2") }
