package cluster

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// iso8601 is the part of ISO 8601's durations that Kafka takes for
// by_duration: days and smaller, as java.time.Duration parses them.
var iso8601 = regexp.MustCompile(`^P(?:(\d+)D)?(T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?$`)

// parseISO8601 reads PnDTnHnMn.nS, such as PT1H or P1DT12H.
func parseISO8601(s string) (time.Duration, error) {
	m := iso8601.FindStringSubmatch(s)
	if m == nil || m[2] == "T" || m[1]+m[2] == "" {
		return 0, fmt.Errorf("%q is no ISO 8601 duration such as PT1H or P1DT12H", s)
	}
	var total time.Duration
	for _, part := range []struct {
		digits string
		unit   time.Duration
	}{
		{m[1], 24 * time.Hour},
		{m[3], time.Hour},
		{m[4], time.Minute},
		{m[5], time.Second},
		{fraction(m[6]), time.Nanosecond},
	} {
		if part.digits == "" {
			continue
		}
		n, err := strconv.ParseInt(part.digits, 10, 64)
		if err != nil || n > (math.MaxInt64-int64(total))/int64(part.unit) {
			return 0, fmt.Errorf("duration %q: %w", s, errTooLong)
		}
		total += time.Duration(n) * part.unit
	}
	return total, nil
}

var errTooLong = errors.New("longer than 292 years")

// fraction pads the digits after the point to nanoseconds.
func fraction(digits string) string {
	if digits == "" {
		return ""
	}
	return (digits + "000000000")[:9]
}
