package webhooks

import (
	"net/http"
	"testing"
	"time"
)

var someDay = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func TestClassifyByStatus(t *testing.T) {
	lenient := mustStatusMap([]string{"2xx", "404"}, []string{"5xx", "4xx", "202"}, []string{"501", "3xx"})
	for _, test := range []struct {
		status  int
		rules   StatusMap
		verdict Verdict
		reason  Reason
		gone    bool
	}{
		{200, StatusMap{}, Accept, ReasonOK, false},
		{204, StatusMap{}, Accept, ReasonOK, false},
		{299, StatusMap{}, Accept, ReasonOK, false},
		{301, StatusMap{}, Reject, ReasonStatus3xx, false},
		{304, StatusMap{}, Reject, ReasonStatus3xx, false},
		{400, StatusMap{}, Reject, ReasonStatus4xx, false},
		{408, StatusMap{}, Release, ReasonStatus4xx, false},
		{410, StatusMap{}, Release, ReasonStatus4xx, true},
		{413, StatusMap{}, Reject, ReasonStatus4xx, false},
		{425, StatusMap{}, Release, ReasonStatus4xx, false},
		{429, StatusMap{}, Release, ReasonStatus4xx, false},
		{499, StatusMap{}, Reject, ReasonStatus4xx, false},
		{500, StatusMap{}, Release, ReasonStatus5xx, false},
		{599, StatusMap{}, Release, ReasonStatus5xx, false},
		// No final status, or no status at all.
		{0, StatusMap{}, Release, ReasonProtocol, false},
		{-1, StatusMap{}, Release, ReasonProtocol, false},
		{99, StatusMap{}, Release, ReasonProtocol, false},
		{101, StatusMap{}, Release, ReasonProtocol, false},
		{600, StatusMap{}, Release, ReasonProtocol, false},
		{999, StatusMap{}, Release, ReasonProtocol, false},
		// A code beats its class, whichever list it is in.
		{404, lenient, Accept, ReasonStatus4xx, false},
		{403, lenient, Release, ReasonStatus4xx, false},
		{202, lenient, Release, ReasonStatus2xx, false},
		{501, lenient, Reject, ReasonStatus5xx, false},
		// 410 keeps its meaning unless it is named itself.
		{410, lenient, Release, ReasonStatus4xx, true},
		{410, mustStatusMap(nil, nil, []string{"410"}), Reject, ReasonStatus4xx, false},
		{410, mustStatusMap([]string{"410"}, nil, nil), Accept, ReasonStatus4xx, false},
		// What no rule covers is no judgement of the record.
		{418, mustStatusMap([]string{"2xx"}, nil, nil), Release, ReasonStatus4xx, false},
	} {
		got := Classify(test.status, nil, AnswerRules{Status: test.rules}, someDay)
		if got.Verdict != test.verdict || got.Reason != test.reason || got.Gone != test.gone || got.Status != test.status {
			t.Errorf("%d: got %+v, want %s, %s, gone %v", test.status, got, test.verdict, test.reason, test.gone)
		}
	}
}

func TestClassifyByAction(t *testing.T) {
	for _, test := range []struct {
		status  int
		actions []string
		honour  bool
		verdict Verdict
		reason  Reason
	}{
		{200, []string{"reject"}, true, Reject, ReasonAction},
		{500, []string{"accept"}, true, Accept, ReasonAction},
		{400, []string{" ReLease "}, true, Release, ReasonAction},
		{410, []string{"reject"}, true, Reject, ReasonAction},
		{500, []string{"reject", "reject"}, true, Reject, ReasonAction},
		{200, []string{"reject"}, false, Accept, ReasonOK},
		{200, []string{"retry"}, true, Accept, ReasonOK},
		{200, []string{""}, true, Accept, ReasonOK},
		{200, []string{"reject", "release"}, true, Accept, ReasonOK},
		{200, []string{"reject, release"}, true, Accept, ReasonOK},
		{200, nil, true, Accept, ReasonOK},
	} {
		header := http.Header{}
		for _, action := range test.actions {
			header.Add("sharehook-action", action)
		}
		got := Classify(test.status, header, AnswerRules{HonourAction: test.honour}, someDay)
		if got.Verdict != test.verdict || got.Reason != test.reason || got.Gone {
			t.Errorf("%d %q: got %+v, want %s, %s", test.status, test.actions, got, test.verdict, test.reason)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	const limit = 5 * time.Minute
	for _, test := range []struct {
		values []string
		want   time.Duration
	}{
		{nil, 0},
		{[]string{"0"}, 0},
		{[]string{"7"}, 7 * time.Second},
		{[]string{" 7 "}, 7 * time.Second},
		{[]string{"300"}, limit},
		{[]string{"301"}, limit},
		{[]string{"9223372037"}, limit},
		{[]string{"9223372036854775808"}, limit},
		{[]string{"99999999999999999999999999"}, limit},
		{[]string{"-5"}, 0},
		{[]string{"+5"}, 0},
		{[]string{"1.5"}, 0},
		{[]string{"1e3"}, 0},
		{[]string{"soon"}, 0},
		{[]string{""}, 0},
		{[]string{"10", "10"}, 0},
		{[]string{"10", "20"}, 0},
		{[]string{"10, 20"}, 0},
		{[]string{someDay.Add(30 * time.Second).Format(http.TimeFormat)}, 30 * time.Second},
		{[]string{someDay.Add(30 * time.Second).Format(time.RFC850)}, 30 * time.Second},
		{[]string{someDay.Format(http.TimeFormat)}, 0},
		{[]string{"Sun, 06 Nov 1994 08:49:37 GMT"}, 0},
		{[]string{"Fri, 31 Dec 9999 23:59:59 GMT"}, limit},
	} {
		header := http.Header{"Retry-After": test.values}
		if got := retryAfter(header, someDay, limit); got != test.want {
			t.Errorf("%q: got %v, want %v", test.values, got, test.want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"10"}}, someDay, 0); got != 0 {
		t.Errorf("no limit: got %v, want the header to be ignored", got)
	}
	if got := retryAfter(http.Header{"Retry-After": {"2"}}, someDay, 1500*time.Millisecond); got != 1500*time.Millisecond {
		t.Errorf("got %v, want the limit, to the millisecond", got)
	}
}

func TestRetryAfterHoldsTheEndpoint(t *testing.T) {
	for _, test := range []struct {
		status int
		after  string
		want   time.Duration
		hold   bool
	}{
		{429, "10", 10 * time.Second, true},
		{503, "10", 10 * time.Second, true},
		{503, "soon", 0, false},
		{500, "10", 10 * time.Second, false},
		// Nothing is tried again, so there is nothing to hold back.
		{200, "10", 0, false},
		{400, "10", 0, false},
		{301, "10", 0, false},
	} {
		rules := AnswerRules{MaxRetryAfter: time.Minute}
		got := Classify(test.status, http.Header{"Retry-After": {test.after}}, rules, someDay)
		if got.RetryAfter != test.want || got.HoldEndpoint != test.hold {
			t.Errorf("%d %q: got %v, hold %v; want %v, hold %v", test.status, test.after, got.RetryAfter, got.HoldEndpoint, test.want, test.hold)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"7", "-5", "9223372037", "soon", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := retryAfter(http.Header{"Retry-After": {value}}, someDay, time.Minute)
		if got < 0 || got > time.Minute {
			t.Errorf("%q: %v is outside of the bounds", value, got)
		}
	})
}

func TestParseStatusMap(t *testing.T) {
	for name, lists := range map[string][3][]string{
		"no number":     {{"ok"}, nil, nil},
		"informational": {{"100"}, nil, nil},
		"class 1xx":     {nil, {"1xx"}, nil},
		"class 6xx":     {nil, {"6xx"}, nil},
		"above":         {nil, nil, {"600"}},
		"signed":        {nil, nil, {"+200"}},
		"four digits":   {nil, nil, {"0200"}},
		"empty":         {nil, nil, {""}},
		"twice":         {{"503"}, {"503"}, nil},
		"twice in one":  {{"2xx", "2XX"}, nil, nil},
	} {
		if _, err := ParseStatusMap(lists[0], lists[1], lists[2]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	upper, err := ParseStatusMap([]string{"2XX"}, nil, nil)
	if err != nil || upper.verdict(200) != Accept {
		t.Errorf("2XX: %v, %v", upper.verdict(200), err)
	}
}

func TestVerdictString(t *testing.T) {
	for verdict, text := range map[Verdict]string{Accept: "accept", Release: "release", Reject: "reject", 0: "invalid verdict 0"} {
		if verdict.String() != text {
			t.Errorf("got %q, want %q", verdict.String(), text)
		}
	}
}
