package dispatch

import "time"

// paceWeight is the weight of the newest attempt: heavy enough that a few slow
// answers stop the reading ahead, light enough that one of them does not.
const paceWeight = 1.0 / 16

// pace is the exponentially weighted mean of how long attempts take.
type pace struct {
	seconds float64
	known   bool
}

func (p *pace) add(took time.Duration) {
	if !p.known {
		*p = pace{seconds: took.Seconds(), known: true}
		return
	}
	p.seconds += paceWeight * (took.Seconds() - p.seconds)
}

// ahead is how many records will start within about a second with so many
// slots, at most one for each slot. 0 before the first answer: an endpoint
// that never answers must not have untried records pile up in front of it.
func (p pace) ahead(slots int) int {
	switch {
	case !p.known:
		return 0
	case p.seconds <= 1:
		return slots
	default:
		return int(float64(slots) / p.seconds)
	}
}
