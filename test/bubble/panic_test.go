package bubble

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sharehook/sharehook/gateway"
)

// A panic in one delivery, here in who watches it, costs neither the process
// nor the records.
func TestPanicInADelivery(t *testing.T) {
	scenario(t, func(b *bed) {
		h := b.hook("orders", statuses(503, 200))
		var panics atomic.Int32
		g := b.start(b.file(h.endpoint("retry: {attempts: 1}")), func(o *gateway.Options) {
			watch := o.OnDelivery
			o.OnDelivery = func(d gateway.Delivery) {
				watch(d)
				panics.Add(1)
				panic(fmt.Sprintf("offset %d", d.Offset))
			}
		})
		b.keyed("orders", "a", "b", "c")
		b.settled("orders")
		b.account(account{})
		if n := panics.Load(); n != 6 {
			t.Errorf("%d panics, want 6: 3 records in 2 deliveries", n)
		}
		if n := len(g.log.lines("panic survived")); n != 6 {
			t.Errorf("%d lines of panics, want 6", n)
		}
		if reason := g.reason("orders"); reason != "" {
			t.Errorf("not ready: %s", reason)
		}
	})
}
