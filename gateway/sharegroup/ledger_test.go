package sharegroup

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestOneBatchAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		a, b, c := d.one(1), d.one(2), d.one(3)
		doneA := d.acknowledge(a, Accept)
		doneB, doneC := d.acknowledge(b, Reject), d.acknowledge(c, Accept)
		d.wantSent(sent{1, kgo.AckAccept})
		d.answer(nil)
		wantDone(t, doneA, nil)
		d.wantSent(sent{2, kgo.AckReject})
		d.answer(nil)
		wantDone(t, doneB, nil)
		d.wantSent(sent{3, kgo.AckAccept})
		d.answer(nil)
		wantDone(t, doneC, nil)
		d.wantSent()
		if d.seen.acknowledged[Accept] != 2 || d.seen.acknowledged[Reject] != 1 {
			t.Errorf("confirmed: %v, want 2 accepts and 1 reject", d.seen.acknowledged)
		}
	})
}

// A batch is handed to kgo in one piece, and that can only be done with one
// status. Those of another keep their order and their turn.
func TestBatchHasOneStatus(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		rs := []*Record{d.one(0), d.one(1), d.one(2), d.one(3), d.one(4), d.one(5)}
		for i, a := range []Acknowledgement{Accept, Release, Accept, Reject, Release, Accept} {
			d.acknowledge(rs[i], a)
		}
		d.wantSent(sent{0, kgo.AckAccept})
		d.answer(nil)
		d.wantSent(sent{1, kgo.AckRelease}, sent{4, kgo.AckRelease})
		d.answer(nil)
		d.wantSent(sent{2, kgo.AckAccept}, sent{5, kgo.AckAccept})
		d.answer(nil)
		d.wantSent(sent{3, kgo.AckReject})
		d.answer(nil)
		d.wantSent()
	})
}

func TestRenewalAndAcceptanceTravelApart(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		r := d.one(1)
		time.Sleep(4 * time.Second) // two thirds of the lock are left no more
		d.g.keepOnce(time.Now())
		d.wantSent(sent{1, kgo.AckRenew})
		done := d.acknowledge(r, Accept)
		d.wantSent(sent{1, kgo.AckRenew}) // the acceptance waits
		d.answer(nil)
		d.wantSent(sent{1, kgo.AckAccept})
		d.answer(nil)
		wantDone(t, done, nil)
	})
}

func TestConfirmedRenewalMovesTheDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		r := d.one(1)
		for range 10 { // 40 s under a lock of 10 s
			time.Sleep(4 * time.Second)
			d.g.keepOnce(time.Now())
			d.wantSent(sent{1, kgo.AckRenew})
			want := time.Now().Add(d.g.lock - deadlineReserve(d.g.lock))
			d.answer(nil)
			if got := r.LockDeadline(); !got.Equal(want) {
				t.Fatalf("deadline %v, want %v", got, want)
			}
		}
		if r.Lapsed() {
			t.Error("lapsed although it was renewed")
		}
	})
}

func TestNothingIsSentPastTheDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		late, in := d.one(1), d.one(2)
		first := d.acknowledge(in, Accept)
		d.answer(nil)
		wantDone(t, first, nil)
		time.Sleep(11 * time.Second)
		if !late.Lapsed() {
			t.Error("not lapsed after its lock")
		}
		wantDone(t, d.acknowledge(late, Accept), ErrLapsed)
		d.wantSent()
		d.g.keepOnce(time.Now())
		if d.seen.lapsed != 1 {
			t.Errorf("%d lapsed locks counted, want 1", d.seen.lapsed)
		}
	})
}

// What waits behind an unanswered batch may lapse there: it must not go out
// with the next one.
func TestLapsedWhileWaitingForAnAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		a := d.one(1)
		d.acknowledge(a, Accept)
		b := d.one(2)
		time.Sleep(time.Second)
		c := d.one(3)
		doneB, doneC := d.acknowledge(b, Accept), d.acknowledge(c, Accept)
		time.Sleep(9500 * time.Millisecond)
		d.answer(nil)
		d.wantSent(sent{3, kgo.AckAccept})
		wantDone(t, doneB, ErrLapsed)
		d.answer(nil)
		wantDone(t, doneC, nil)
	})
}

func TestLostAcceptanceIsRepeatedWithoutASecondDelivery(t *testing.T) {
	for _, a := range []Acknowledgement{Accept, Reject} {
		t.Run(a.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *desk) {
				done := d.acknowledge(d.one(1), a)
				d.answer(kerr.NotLeaderForPartition)
				wantDone(t, done, kerr.NotLeaderForPartition)
				d.reopen()
				if got := d.hand(1); len(got) != 0 {
					t.Fatal("it was delivered a second time")
				}
				d.wantSent(sent{1, a.status()})
				d.answer(nil)
				if d.seen.acknowledged[a] != 1 || d.seen.errorNames["NOT_LEADER_FOR_PARTITION"] != 1 {
					t.Errorf("confirmed %v, errors %v, want one each", d.seen.acknowledged, d.seen.errorNames)
				}
				if len(d.g.held)+len(d.g.memory) != 0 {
					t.Errorf("%d held and %d remembered at the end, want none", len(d.g.held), len(d.g.memory))
				}
			})
		})
	}
}

func TestLostReleaseIsDeliveredAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		done := d.acknowledge(d.one(1), Release)
		d.answer(kerr.NotLeaderForPartition)
		wantDone(t, done, kerr.NotLeaderForPartition)
		d.one(1)
	})
}

// The answer that confirms a release may bring the record with it, before kgo
// has told of the confirmation.
func TestReleasedRecordComesBackWithItsConfirmation(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		done := d.acknowledge(d.one(1), Release)
		again := d.one(1)
		d.answer(nil)
		wantDone(t, done, nil)
		doneAgain := d.acknowledge(again, Accept)
		d.wantSent(sent{1, kgo.AckAccept})
		d.answer(nil)
		wantDone(t, doneAgain, nil)
	})
}

func TestRecordHandedOutAgainTakesOverTheRunningAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		running := d.one(1)
		before := running.handle
		if got := d.hand(1); len(got) != 0 {
			t.Fatal("a second delivery began beside the running one")
		}
		if running.handle == before {
			t.Fatal("the old handle is still in place")
		}
		done := d.acknowledge(running, Accept)
		d.answer(nil)
		wantDone(t, done, nil)
	})
}

// It is handed out again while its acceptance is under way: the broker will
// refuse that one, so that the new acquisition is accepted as well.
func TestHandedOutAgainUnderItsAcceptance(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		done := d.acknowledge(d.one(1), Accept)
		if got := d.hand(1); len(got) != 0 {
			t.Fatal("it was delivered a second time")
		}
		d.answer(kerr.InvalidRecordState)
		d.reopen()
		d.wantSent(sent{1, kgo.AckAccept})
		d.answer(nil)
		wantDone(t, done, nil)
	})
}

func TestLapsedRecordThatComesAgainGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		r := d.one(1)
		time.Sleep(11 * time.Second)
		d.g.keepOnce(time.Now())
		if got := d.hand(1); len(got) != 0 || r.Lapsed() {
			t.Fatal("it did not go on under the running attempt")
		}
		// But once its caller has let go of it, it is a new delivery.
		time.Sleep(11 * time.Second)
		d.g.keepOnce(time.Now())
		r.Drop()
		d.one(1)
	})
}

// The caller lets go in the very moment in which the record comes again.
func TestDropOfARecordThatCameAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		r := d.one(1)
		time.Sleep(11 * time.Second)
		if got := d.hand(1); len(got) != 0 {
			t.Fatal("a second delivery began beside the running one")
		}
		r.Drop()
		got, err := d.g.take(1)
		if err != nil || len(got) != 1 || got[0] == r {
			t.Fatalf("after the drop: %v, %v, want the record as a delivery of its own", got, err)
		}
	})
}

func TestRefusedBatchesAreHalved(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		var rs []*Record
		for i := range int64(9) {
			rs = append(rs, d.one(i))
		}
		for _, r := range rs {
			d.acknowledge(r, Accept)
		}
		d.wantSent(sent{0, kgo.AckAccept})
		d.answer(nil)
		if n := len(d.sent()); n != 8 {
			t.Fatalf("%d under way, want the other 8", n)
		}
		d.answer(kerr.InvalidRecordState)
		d.wantSent() // closed
		d.reopen()
		for i := range int64(8) { // they come again, and are accepted again
			d.hand(i + 1)
		}
		d.wantSent(sent{1, kgo.AckAccept})
		d.answer(nil)
		if n := len(d.sent()); n > 4 {
			t.Errorf("%d under way after a refusal of 8, want at most 4", n)
		}
	})
}

// kgo reports acknowledgements of an older session apart, so that one batch
// may get two answers. The second must not be taken for one to the next batch.
func TestSecondAnswerIsNotTakenForTheNextBatch(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		first := d.acknowledge(d.one(1), Accept)
		second := d.acknowledge(d.one(2), Accept)
		d.answer(kerr.InvalidShareSessionEpoch)
		wantDone(t, first, kerr.InvalidShareSessionEpoch)
		d.answer(nil) // the rest of the first batch
		d.wantSent()
		d.reopen()
		d.wantSent(sent{2, kgo.AckAccept})
		d.answer(nil)
		wantDone(t, second, nil)
	})
}

func TestForgottenTopicEndsItsRecords(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		running, decided, waiting := d.one(1), d.one(2), d.one(3)
		under := d.acknowledge(decided, Accept)
		behind := d.acknowledge(waiting, Accept)
		d.g.forget("t", [16]byte{2})
		wantDone(t, under, ErrLapsed)
		wantDone(t, behind, ErrLapsed)
		wantDone(t, d.acknowledge(running, Accept), ErrLapsed)
		if len(d.hand(1)) != 1 || len(d.hand(2)) != 1 {
			t.Error("records of the topic made again were taken for the old ones")
		}
	})
}

// A record that lapsed before anybody took it must not stay behind as one that
// is being delivered.
func TestLapsedBeforeItWasTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		d.enter(1)
		time.Sleep(11 * time.Second)
		if got, err := d.g.take(1); err != nil || len(got) != 0 {
			t.Fatalf("took %v, %v, want nothing", got, err)
		}
		d.one(1)
	})
}

// A renewal that is lost with its session ends the lock: kgo would not send
// another one, nor say that it does not.
func TestLostRenewalEndsTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		r := d.one(1)
		time.Sleep(4 * time.Second)
		d.g.keepOnce(time.Now())
		d.wantSent(sent{1, kgo.AckRenew})
		d.answer(kerr.InvalidShareSessionEpoch)
		d.reopen()
		if !r.Lapsed() {
			t.Error("still held, though its session is gone")
		}
		d.g.keepOnce(time.Now())
		d.wantSent()
	})
}

// A refused batch of renewals holds one that is not ours and others that are.
func TestRefusedRenewalsAreTriedAgainApart(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		a, b := d.one(1), d.one(2)
		time.Sleep(4 * time.Second)
		d.g.keepOnce(time.Now())
		if n := len(d.sent()); n != 2 {
			t.Fatalf("%d renewals under way, want 2", n)
		}
		d.answer(kerr.InvalidRecordState)
		d.reopen()
		d.g.keepOnce(time.Now())
		if n := len(d.sent()); n != 1 {
			t.Fatalf("%d renewals under way, want 1 by itself", n)
		}
		first := d.sent()[0].offset
		d.answer(kerr.InvalidRecordState) // it is the guilty one
		d.reopen()
		if n := len(d.sent()); n != 1 {
			t.Fatalf("%d renewals under way, want the other one", n)
		}
		d.answer(nil)
		if a.Lapsed() != (first == 1) || b.Lapsed() != (first == 2) {
			t.Errorf("lapsed: %v and %v, want only the one that was refused by itself", a.Lapsed(), b.Lapsed())
		}
	})
}

// What nobody takes is given back: the endpoint rests, and others may not.
func TestUnwantedRecordIsGivenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		d.enter(1)
		for range 14 { // 56 s
			time.Sleep(4 * time.Second)
			d.g.keepOnce(time.Now())
			d.wantSent(sent{1, kgo.AckRenew})
			d.answer(nil)
		}
		time.Sleep(8 * time.Second)
		d.g.keepOnce(time.Now())
		d.wantSent(sent{1, kgo.AckRelease})
		d.answer(nil)
		if n := len(d.g.held); n != 0 {
			t.Errorf("%d held, want none", n)
		}
	})
}
