package webhooks

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	lowestStatus  = 100
	highestStatus = 599
)

// StatusMap maps final status codes to verdicts. The zero StatusMap is the
// default one: 2xx accept; 408, 425, 429 and 5xx release; 3xx and 4xx reject.
type StatusMap struct {
	table *statusTable
}

type statusTable struct {
	verdicts [highestStatus - lowestStatus + 1]Verdict
	// named: a rule names the code itself, not only its class. That takes from
	// it what it means otherwise: of 410, that the endpoint is to be paused.
	named [highestStatus - lowestStatus + 1]bool
}

var defaultStatus = mustStatusMap([]string{"2xx"}, []string{"408", "425", "429", "5xx"}, []string{"3xx", "4xx"})

// ParseStatusMap makes a StatusMap of codes ("503") and classes ("5xx"). A code
// beats a class. A code or class given twice, or outside of 2xx to 5xx, is an
// error: what is below is not final, what is above is no HTTP.
func ParseStatusMap(accept, release, reject []string) (StatusMap, error) {
	table := &statusTable{}
	rules := []struct {
		verdict Verdict
		names   []string
	}{{Accept, accept}, {Release, release}, {Reject, reject}}

	var problems []error
	seen := map[string]Verdict{}
	codes := map[int]Verdict{}
	for _, rule := range rules {
		for _, name := range rule.names {
			name = strings.ToLower(name)
			if earlier, ok := seen[name]; ok {
				problems = append(problems, fmt.Errorf("status %q is named for %s and for %s; name it once", name, earlier, rule.verdict))
				continue
			}
			seen[name] = rule.verdict
			first, last, err := statusRange(name)
			switch {
			case err != nil:
				problems = append(problems, err)
			case first == last:
				codes[first] = rule.verdict
			default:
				for code := first; code <= last; code++ {
					table.verdicts[code-lowestStatus] = rule.verdict
				}
			}
		}
	}
	// Codes last, so that they beat classes whatever the order in the file.
	for code, verdict := range codes {
		table.verdicts[code-lowestStatus] = verdict
		table.named[code-lowestStatus] = true
	}
	if len(problems) > 0 {
		return StatusMap{}, errors.Join(problems...)
	}
	return StatusMap{table}, nil
}

// statusRange is the codes that a code or a class stands for.
func statusRange(name string) (first, last int, err error) {
	if class, ok := strings.CutSuffix(name, "xx"); ok && len(class) == 1 && class[0] >= '2' && class[0] <= '5' {
		first = int(class[0]-'0') * 100
		return first, first + 99, nil
	}
	code, err := strconv.Atoi(name)
	if err != nil || len(name) != 3 || code < 200 || code > highestStatus {
		return 0, 0, fmt.Errorf("status %q is neither a code from 200 to 599 nor a class; write it as 503 or 5xx", name)
	}
	return code, code, nil
}

func mustStatusMap(accept, release, reject []string) StatusMap {
	m, err := ParseStatusMap(accept, release, reject)
	if err != nil {
		panic(err)
	}
	return m
}

// verdict is what the rules say about a code; zero if they say nothing.
func (m StatusMap) verdict(code int) Verdict {
	if code < lowestStatus || code > highestStatus {
		return 0
	}
	return m.orDefault().verdicts[code-lowestStatus]
}

// names says whether a rule names the code itself.
func (m StatusMap) names(code int) bool {
	return code >= lowestStatus && code <= highestStatus && m.orDefault().named[code-lowestStatus]
}

func (m StatusMap) orDefault() *statusTable {
	if m.table == nil {
		return defaultStatus.table
	}
	return m.table
}
