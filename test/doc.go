// Package test holds the tests of the whole: what no package can say of
// itself alone. It has no code of its own.
package test
