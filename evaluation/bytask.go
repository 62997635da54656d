package evaluation

import (
	"relabel"
	"relabel/stats"
)

// ByTask sums successes and trials by task. The zero value is ready for use.
type ByTask struct {
	at  map[relabel.ID]int
	sum []stats.Cluster // in the order in which tasks were added
}

// Add adds the results of a task.
func (c *ByTask) Add(task relabel.ID, successes, trials int) {
	if c.at == nil {
		c.at = map[relabel.ID]int{}
	}
	i, known := c.at[task]
	if !known {
		i = len(c.sum)
		c.at[task] = i
		c.sum = append(c.sum, stats.Cluster{})
	}
	c.sum[i].Successes += successes
	c.sum[i].Trials += trials
}

// Proportion is the share of successes with its 95% interval: Wilson's if each task has one trial,
// else clustered by task.
func (c *ByTask) Proportion() relabel.Proportion {
	var p relabel.Proportion
	single := true
	for _, of := range c.sum {
		p.Count += of.Successes
		p.Of += of.Trials
		single = single && of.Trials <= 1
	}
	if p.Of == 0 {
		return p
	}
	interval := stats.Wilson(p.Count, p.Of)
	p.Interval = relabel.IntervalWilson
	if !single {
		var exact bool
		interval, exact = stats.Clustered(c.sum)
		p.Interval = relabel.IntervalWilsonByTask
		if exact {
			p.Interval = relabel.IntervalClustered
		}
	}
	p.Share, p.Low, p.High = new(float64(p.Count)/float64(p.Of)), &interval.Low, &interval.High
	return p
}
