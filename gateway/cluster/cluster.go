package cluster

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Cluster reads and changes the settings of one Kafka cluster. It is safe for
// concurrent use and starts no goroutines.
type Cluster struct {
	client *kgo.Client
	admin  *kadm.Client
	log    *slog.Logger
	now    func() time.Time
}

// New returns a Cluster that speaks through client, which stays the caller's
// to close. The client needs no options beyond how to reach the cluster; it
// must not be a member of a group. A nil logger means no log.
func New(client *kgo.Client, logger *slog.Logger) *Cluster {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Cluster{client: client, admin: kadm.NewClient(client), log: logger, now: time.Now}
}

const (
	// patience bounds how long an answer of the "not yet" kind is asked
	// again: a fresh cluster makes its internal topics at the first question
	// about a group, which takes it a few seconds.
	patience  = 20 * time.Second
	firstWait = 50 * time.Millisecond
	maxWait   = time.Second
)

// persist calls ask until it succeeds, fails for good, or ctx or patience
// ends. kgo retries requests that found no broker, but hands back the
// retriable answer of a coordinator that is still being made.
func persist(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		err := ask(ctx)
		if err == nil || !retriable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err // says more than "deadline exceeded"
		case <-time.After(wait):
		}
	}
}

func retriable(err error) bool {
	var ke *kerr.Error
	return errors.As(err, &ke) && ke.Retriable
}

// denied says whether err is the cluster's refusal to let us look or act.
func denied(err error) bool {
	return errors.Is(err, kerr.GroupAuthorizationFailed) ||
		errors.Is(err, kerr.TopicAuthorizationFailed) ||
		errors.Is(err, kerr.ClusterAuthorizationFailed)
}
