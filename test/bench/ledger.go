package main

import (
	"hash/maphash"
	"os"
	"slices"
	"sync"
	"time"
)

// ledger is the endpoint's account of one run: what came, how often and when.
type ledger struct {
	waits []time.Duration // by record number
	seed  maphash.Seed

	mu       sync.Mutex
	age      []time.Duration // by record number: from production to its first POST; 0: it has not come
	ids      map[uint64]int  // POSTs by the hash of their webhook-id
	posts    int
	distinct int // records that came
	answered int // records whose first POST was answered
	foreign  int // POSTs of something else
	watched  []int
	from, to sample // as the first and the last tenth of the records were answered
	err      error
}

// sample is the state of things at one moment.
type sample struct {
	At       time.Time
	Answered int
	CPU      map[int]time.Duration // by process id
	// Others is what all other processes have used, but for the endpoint.
	Others time.Duration
}

// report is a ledger's summary.
type report struct {
	Posts, Distinct, Answered, Foreign int
	// Duplicates are POSTs with a webhook-id that had come before.
	Duplicates int
	// IDs is the number of different webhook-ids; it should be Distinct.
	IDs int
	// From and To are when 10 % and 90 % of the records were answered.
	From, To sample
	// AgeP50 and AgeP99 are of the time from production to POST of the records
	// whose numbers are the middle 80 %.
	AgeP50, AgeP99 time.Duration
	Err            string
}

func newLedger(records int, p profile) *ledger {
	return &ledger{
		waits: p.deal(records),
		seed:  maphash.MakeSeed(),
		age:   make([]time.Duration, records),
		// Hashes hold no pointers, so that the garbage collector of the
		// endpoint, which shares two cores with what is measured, has
		// nothing to look through.
		ids: make(map[uint64]int, records),
	}
}

// watch names the processes whose CPU time is wanted.
func (l *ledger) watch(pids []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = pids
}

// arrive enters a POST and says how long to wait with its answer, and whether
// it is the first of its record.
func (l *ledger) arrive(id, body []byte, now time.Time) (wait time.Duration, first bool) {
	number, produced, ok := parseValue(body)
	hash := maphash.Bytes(l.seed, id)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posts++
	if !ok || number >= len(l.age) || len(id) == 0 {
		l.foreign++
		return 0, false
	}
	l.ids[hash]++
	if first = l.age[number] == 0; first {
		l.distinct++
		l.age[number] = max(now.Sub(produced), 1)
	}
	return l.waits[number], first
}

// answer enters that a record's first POST is about to be answered.
func (l *ledger) answer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered++
	switch total := len(l.age); l.answered {
	case total / 10:
		l.from = l.sampleLocked()
	case total - total/10:
		l.to = l.sampleLocked()
	}
}

// sampleLocked reads a few small files, which takes less than a POST.
func (l *ledger) sampleLocked() sample {
	s := sample{At: time.Now(), Answered: l.answered, CPU: make(map[int]time.Duration)}
	var err error
	if s.Others, err = busyTime(); err != nil {
		l.err = err
	}
	for _, pid := range l.watched {
		if s.CPU[pid], err = cpuTime(pid); err != nil {
			l.err = err
		}
		s.Others -= s.CPU[pid]
	}
	self, err := cpuTime(os.Getpid())
	if err != nil {
		l.err = err
	}
	s.Others -= self
	return s
}

func (l *ledger) report() report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := report{
		Posts: l.posts, Distinct: l.distinct, Answered: l.answered, Foreign: l.foreign,
		IDs: len(l.ids), From: l.from, To: l.to,
	}
	for _, n := range l.ids {
		r.Duplicates += n - 1
	}
	if l.err != nil {
		r.Err = l.err.Error()
	}
	total := len(l.age)
	middle := slices.Clone(l.age[total/10 : total-total/10])
	middle = slices.DeleteFunc(middle, func(age time.Duration) bool { return age == 0 })
	slices.Sort(middle)
	r.AgeP50, r.AgeP99 = percentile(middle, 50), percentile(middle, 99)
	return r
}

// percentile of sorted values; 0 of none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}
