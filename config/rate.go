package config

import (
	"regexp"
	"strconv"
	"time"
)

// Rate is how many there may be in a time. The zero Rate is no limit.
type Rate struct {
	Count int
	Per   time.Duration // a second, a minute or an hour
}

// rateUnits are how the file names the times of a Rate.
var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

var rateForm = regexp.MustCompile(`^([1-9][0-9]*)/([smh])$`)

// maxRate is the greatest count of a Rate; nobody could tell more from none.
const maxRate = 1_000_000

// PerSecond is the rate of a second; 0 for no limit.
func (r Rate) PerSecond() float64 {
	if r.Per == 0 {
		return 0
	}
	return float64(r.Count) / r.Per.Seconds()
}

// String returns the rate as the file would have it; empty for no limit.
func (r Rate) String() string {
	for unit, per := range rateUnits {
		if r.Per == per {
			return strconv.Itoa(r.Count) + "/" + unit
		}
	}
	return ""
}

// parseRate reads a rate; it answers with what is wrong.
func parseRate(text string) (Rate, string) {
	if text == "" {
		return Rate{}, ""
	}
	parts := rateForm.FindStringSubmatch(text)
	if parts == nil {
		return Rate{}, "is no rate; write one such as 200/s, 1000/m or 50/h"
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil || n > maxRate {
		return Rate{}, "is too much; write a number up to " + strconv.Itoa(maxRate) + ", or remove rate_limit for no limit"
	}
	return Rate{Count: n, Per: rateUnits[parts[2]]}, ""
}
