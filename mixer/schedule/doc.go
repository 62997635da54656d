// Package schedule decides who executes which turn of which trajectory: βi and ρi by
// iteration (paper section 3.2 and F.1), the draws of b1…bT and κ, which tasks an
// iteration rolls out, and the sampling seed of each call.
//
// It is pure. Whatever it draws is a function of the run's seed and the place of the
// draw, and is the same on any machine and in any release: see Stream.
package schedule
