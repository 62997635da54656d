// Package schedule determines the executor of each turn: βi and ρi by iteration (paper section 3.2
// and F.1), the draws of b1…bT and κ, the tasks of an iteration, and the sampling seed of each call.
//
// It is pure. Each draw is a function of the run's seed and the place of the draw, and is the same on
// any machine and in any release: see Stream.
package schedule
