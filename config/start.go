package config

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Values of share_group.start; the third is a prefix.
const (
	StartLatest     = "latest"
	StartEarliest   = "earliest"
	startByDuration = "by_duration:"
)

// StartAgo tells how far back a new share group starts. It is false for
// latest and earliest.
func (g ShareGroup) StartAgo() (time.Duration, bool) {
	form, ok := strings.CutPrefix(g.Start, startByDuration)
	if !ok {
		return 0, false
	}
	return parseISODuration(form)
}

func checkStart(start string) string {
	if start == StartLatest || start == StartEarliest {
		return ""
	}
	form, ok := strings.CutPrefix(start, startByDuration)
	if !ok {
		return "is no start; write latest, earliest or by_duration:PT1H"
	}
	if _, ok := parseISODuration(form); !ok {
		return "has no ISO 8601 duration of days, hours, minutes and seconds; write one such as by_duration:PT1H or by_duration:P7DT12H"
	}
	return ""
}

// isoDuration is what Kafka (KIP-1106) understands: PnDTnHnMn.nS.
var isoDuration = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,9})?)S)?)?$`)

// parseISODuration is false for what is none, is empty, or longer than Go can
// count (292 years).
func parseISODuration(form string) (time.Duration, bool) {
	parts := isoDuration.FindStringSubmatch(strings.ToUpper(form))
	if parts == nil || strings.HasSuffix(strings.ToUpper(form), "T") || form == "P" || form == "p" {
		return 0, false
	}
	const hoursOfDay = 24
	var sum time.Duration
	for i, unit := range []string{"h", "h", "m", "s"} {
		part := parts[i+1]
		if part == "" {
			continue
		}
		d, err := time.ParseDuration(part + unit)
		if err != nil {
			return 0, false
		}
		if i == 0 {
			days, err := strconv.ParseInt(part, 10, 64)
			if err != nil || days > int64((1<<63-1)/(hoursOfDay*time.Hour)) {
				return 0, false
			}
			d *= hoursOfDay
		}
		if sum += d; sum < 0 {
			return 0, false
		}
	}
	return sum, true
}
