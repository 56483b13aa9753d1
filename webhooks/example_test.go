package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/sharehook/sharehook/webhooks"
)

// One attempt: the status of the answer becomes a verdict.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		http.Error(w, "stock is being counted", http.StatusServiceUnavailable)
	}))
	defer server.Close()

	endpoint, err := webhooks.New(webhooks.Options{Name: "orders", URL: server.URL + "/hooks/orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer endpoint.Close()

	record := webhooks.Message{ID: "orders-0-17", Topic: "orders", Offset: 17, Value: []byte(`{"order": 7}`), DeliveryCount: 1}
	result := endpoint.Attempt(context.Background(), &record, webhooks.Attempt{Number: 1})
	fmt.Println(result.Verdict, result.Reason, result.Status)
	fmt.Println("again in", result.RetryAfter, "and nothing else before that:", result.HoldEndpoint)
	fmt.Printf("%s", result.Excerpt)
	// Output:
	// release status_5xx 503
	// again in 30s and nothing else before that: true
	// stock is being counted
}

// A receiver does its work once for each webhook-id, however often the record
// comes: an answer can be lost on its way, and then the record comes again.
func Example_receiver() {
	var mu sync.Mutex
	done := map[string]bool{} // in earnest: a table with a unique key, written in the transaction of the work
	receive := func(w http.ResponseWriter, r *http.Request) {
		order, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "body is not whole", http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if id := r.Header.Get("webhook-id"); !done[id] {
			fmt.Printf("ship %s, attempt %s\n", order, r.Header.Get("sharehook-attempt"))
			done[id] = true
		}
		w.WriteHeader(http.StatusNoContent) // the record is done, now or earlier
	}
	server := httptest.NewServer(http.HandlerFunc(receive))
	defer server.Close()

	endpoint, err := webhooks.New(webhooks.Options{URL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer endpoint.Close()

	record := webhooks.Message{ID: "orders-0-17", Topic: "orders", Value: []byte("order 7")}
	for number := 1; number <= 2; number++ {
		result := endpoint.Attempt(context.Background(), &record, webhooks.Attempt{Number: number})
		fmt.Println(result.Verdict)
	}
	// Output:
	// ship order 7, attempt 1
	// accept
	// accept
}
