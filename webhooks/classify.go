package webhooks

import (
	"net/http"
	"strings"
	"time"
)

// ActionHeader is the answer's header that gives the verdict itself, where
// AnswerRules.HonourAction permits it: accept, release or reject, in any case.
const ActionHeader = "Sharehook-Action"

// AnswerRules say how an answer is read.
type AnswerRules struct {
	Status       StatusMap
	HonourAction bool
	// MaxRetryAfter caps Retry-After; 0 ignores the header.
	MaxRetryAfter time.Duration
}

// Classify says what an answer means: the verdict and all that follows from
// status and header, and nothing else of the Result. Now is what a date in
// Retry-After is compared with. It is a pure function.
func Classify(status int, header http.Header, rules AnswerRules, now time.Time) Result {
	result := Result{Status: status}
	if rules.HonourAction {
		if verdict := action(header); verdict != 0 {
			result.Verdict, result.Reason = verdict, ReasonAction
		}
	}
	if result.Verdict == 0 {
		result.Verdict, result.Reason = byStatus(status, rules.Status)
		if status == http.StatusGone && !rules.Status.names(status) {
			// The endpoint says that it will never be back. That is no
			// judgement of this record, which must not become a dead letter.
			result.Verdict, result.Gone = Release, true
		}
	}
	hold := status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
	if hold || result.Verdict == Release {
		result.RetryAfter = retryAfter(header, now, rules.MaxRetryAfter)
		result.HoldEndpoint = hold && result.RetryAfter > 0
	}
	return result
}

// names says whether the rules speak of this very answer: its status by its code,
// or its action.
func (r *AnswerRules) names(status int, reason Reason) bool {
	return reason == ReasonAction || r.Status.names(status)
}

// byStatus is the verdict by status alone. A code that no rule covers is no
// judgement of the record: release.
func byStatus(status int, rules StatusMap) (Verdict, Reason) {
	reason := statusReason(status)
	verdict := rules.verdict(status)
	switch {
	case verdict == 0:
		return Release, reason
	case verdict == Accept && reason == ReasonStatus2xx:
		return Accept, ReasonOK
	default:
		return verdict, reason
	}
}

func statusReason(status int) Reason {
	switch status / 100 {
	case 2:
		return ReasonStatus2xx
	case 3:
		return ReasonStatus3xx
	case 4:
		return ReasonStatus4xx
	case 5:
		return ReasonStatus5xx
	default:
		return ReasonProtocol
	}
}

// action is the verdict that the answer gives itself; zero if it gives none, one
// that we do not know, or two that contradict each other.
func action(header http.Header) Verdict {
	var found Verdict
	for _, value := range header[ActionHeader] {
		verdict := actionVerdict(strings.TrimSpace(value))
		if verdict == 0 || found != 0 && verdict != found {
			return 0
		}
		found = verdict
	}
	return found
}

func actionVerdict(value string) Verdict {
	for _, verdict := range []Verdict{Accept, Release, Reject} {
		if strings.EqualFold(value, verdict.String()) {
			return verdict
		}
	}
	return 0
}
