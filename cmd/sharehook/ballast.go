package main

import "runtime"

// ballastSize makes the garbage collector run a fraction as often: it runs
// when the heap has doubled, and ours is a few megabytes that are filled many
// times a second. Never touched, the ballast takes no memory, only addresses;
// unlike a higher GOGC it costs nothing where much is held.
const ballastSize = 12 << 20

// withBallast runs f with the ballast in place.
func withBallast(f func() error) error {
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	return f()
}
