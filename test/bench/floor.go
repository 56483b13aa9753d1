package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// runFloor is the floor process: the least that gets records from Kafka to an
// endpoint over HTTP. It runs until it is ended.
func runFloor(args []string) error {
	flags := flag.NewFlagSet(roleFloor, flag.ContinueOnError)
	seeds := flags.String("seeds", "", "brokers")
	topic := flags.String("topic", "", "what to read, from its start")
	url := flags.String("url", "", "where to POST")
	workers := flags.Int("workers", 0, "POSTs in flight")
	if err := flags.Parse(args); err != nil {
		return err
	}
	// With topics and no group, kgo reads all partitions from their starts.
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(*seeds, ",")...),
		kgo.ConsumeTopics(*topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		return err
	}
	defer client.Close()

	transport := &http.Transport{MaxIdleConns: *workers, MaxIdleConnsPerHost: *workers, MaxConnsPerHost: *workers}
	poster := &http.Client{Transport: transport}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	records := make(chan *kgo.Record, *workers)
	for range *workers {
		go func() {
			for r := range records {
				if err := post(ctx, poster, *url, r); err != nil {
					cancel(err)
					return
				}
			}
		}()
	}
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		for r := range fetches.RecordsAll() {
			select {
			case records <- r:
			case <-ctx.Done():
			}
		}
	}
	return context.Cause(ctx)
}

// post is one POST, with a name for the record so that the endpoint can count.
func post(ctx context.Context, client *http.Client, url string, r *kgo.Record) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(r.Value))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Webhook-Id", strconv.Itoa(int(r.Partition))+"-"+strconv.FormatInt(r.Offset, 10))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the endpoint answered %s", resp.Status)
	}
	return nil
}
