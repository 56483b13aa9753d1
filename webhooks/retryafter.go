package webhooks

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads Retry-After (RFC 9110, 10.2.3: whole seconds, or a date). It
// is never negative and at most limit. What is neither, or stands there more
// than once, is ignored: then the caller's own back-off holds.
func retryAfter(header http.Header, now time.Time, limit time.Duration) time.Duration {
	values := header["Retry-After"]
	if len(values) != 1 || limit <= 0 {
		return 0
	}
	value := strings.TrimSpace(values[0])
	if isDigits(value) {
		seconds, err := strconv.ParseInt(value, 10, 64)
		// Compared in seconds: the product would overflow. More digits than
		// an int64 has is a long time, too.
		if err != nil || seconds >= int64(limit/time.Second)+1 {
			return limit
		}
		return min(time.Duration(seconds)*time.Second, limit)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	// Sub saturates, so that a date in 9999 is a long time and not a negative.
	return min(max(at.Sub(now), 0), limit)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
