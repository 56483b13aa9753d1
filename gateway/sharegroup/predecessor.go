package sharegroup

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// EndPredecessors makes members leave the group whose process is gone, and
// returns how many. Left alone, a member that was killed keeps its partitions
// until its session times out, 45 s by default; records on them that nobody
// holds are not delivered meanwhile.
//
// gone is asked with the client ID of each member. Kafka lets any client send
// the last heartbeat (KIP-932, member epoch -1) of any member, so gone must be
// sure: a member that lives has all that it holds delivered again.
func EndPredecessors(ctx context.Context, client *kgo.Client, group string, gone func(clientID string) bool) (int, error) {
	describe := kmsg.NewPtrShareGroupDescribeRequest()
	describe.GroupIDs = []string{group}
	resp, err := describe.RequestWith(ctx, client)
	if err != nil {
		return 0, fmt.Errorf("look for members of share group %q whose process is gone: %w", group, err)
	}
	ended := 0
	var errs []error
	for _, g := range resp.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			if !errors.Is(err, kerr.GroupIDNotFound) { // a new group has none
				errs = append(errs, fmt.Errorf("look for members of share group %q whose process is gone: %w", group, err))
			}
			continue
		}
		for _, m := range g.Members {
			if !gone(m.ClientID) {
				continue
			}
			if err := endMember(ctx, client, group, m.MemberID); err != nil {
				errs = append(errs, err)
				continue
			}
			ended++
		}
	}
	return ended, errors.Join(errs...)
}

func endMember(ctx context.Context, client *kgo.Client, group, member string) error {
	last := kmsg.NewPtrShareGroupHeartbeatRequest()
	last.GroupID, last.MemberID, last.MemberEpoch = group, member, -1
	resp, err := last.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if errors.Is(err, kerr.UnknownMemberID) {
		return nil // its session has just timed out
	}
	if err != nil {
		return fmt.Errorf("make a member of share group %q leave whose process is gone: %w", group, err)
	}
	return nil
}
