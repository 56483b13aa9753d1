package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// value is one setting as the cluster tells it; the zero value: not told.
type value struct{ text string }

// number is the value as a positive number; 0 if it is none.
func (v value) number() int {
	n, err := strconv.Atoi(v.text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// or is the value, or else, if the broker knows the name of the setting, its
// default.
func (v value) or(known bool, def string) string {
	if v.text == "" && known {
		return def
	}
	return v.text
}

// described are the settings of one resource, or why they could not be read.
type described struct {
	values map[string]value
	err    error
}

// describe reads settings of resources of one kind; no keys means all. The
// error is that of the whole question; one resource's own is in its entry,
// and every name has an entry.
func (c *Cluster) describe(ctx context.Context, kind kmsg.ConfigResourceType, names, keys []string) (map[string]described, error) {
	if len(names) == 0 {
		return nil, nil
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range names {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, keys
		req.Resources = append(req.Resources, r)
	}
	found := make(map[string]described, len(names))
	err := persist(ctx, func(ctx context.Context) error {
		var errs []error
		// Settings of brokers are asked of each of them, all others of any
		// one: a single answer then.
		for _, shard := range c.client.RequestSharded(ctx, req) {
			if shard.Err != nil {
				errs = append(errs, shard.Err)
				continue
			}
			for _, r := range shard.Resp.(*kmsg.DescribeConfigsResponse).Resources {
				found[r.ResourceName] = describedFrom(r)
			}
		}
		if len(found) == 0 {
			return errors.Join(errs...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, ok := found[name]; !ok { // a broker that is down
			found[name] = described{err: fmt.Errorf("%s %s did not answer", kind, name)}
		}
	}
	return found, nil
}

func describedFrom(r kmsg.DescribeConfigsResponseResource) described {
	if err := brokerError(r.ErrorCode, r.ErrorMessage); err != nil {
		return described{err: err}
	}
	d := described{values: make(map[string]value, len(r.Configs))}
	for _, c := range r.Configs {
		var v value
		if c.Value != nil {
			v.text = *c.Value
		}
		d.values[c.Name] = v
	}
	return d
}

// brokerError is the error of a code with the broker's own sentence, which
// says which bound or rule was hurt; nil for code 0.
func brokerError(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err == nil || message == nil || *message == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, *message)
}
