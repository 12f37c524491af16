//! Walking trees: what ignore rules hide, links, pipes, depth and width.
