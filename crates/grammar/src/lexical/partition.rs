//! Partitions that are refined: sets of numbers that only ever split.

/// The numbers from 0 on, in disjoint sets.
pub struct Partition {
    /// All numbers; each set is a stretch of them.
    pub elements: Vec<u32>,
    place: Vec<u32>,
    /// The set of each number.
    pub set_of: Vec<u32>,
    /// Where each set begins.
    pub first: Vec<u32>,
    end: Vec<u32>,
    /// How many of each set are marked; they stand at its beginning.
    marked: Vec<u32>,
    touched: Vec<u32>,
}

impl Partition {
    /// Numbers with equal keys in one set, sets in the order of keys.
    pub fn by(keys: &[u32]) -> Partition {
        // A counting sort: keys are letters, labels or states.
        let mut next = vec![0u32; keys.iter().max().map_or(0, |&k| k as usize + 2)];
        for &key in keys {
            next[key as usize + 1] += 1;
        }
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let mut elements = vec![0u32; keys.len()];
        for (e, &key) in keys.iter().enumerate() {
            elements[next[key as usize] as usize] = e as u32;
            next[key as usize] += 1;
        }
        let mut place = vec![0; keys.len()];
        let mut set_of = vec![0; keys.len()];
        let (mut first, mut end) = (Vec::new(), Vec::new());
        for (i, &e) in elements.iter().enumerate() {
            if i == 0 || keys[e as usize] != keys[elements[i - 1] as usize] {
                first.push(i as u32);
                end.push(i as u32);
            }
            place[e as usize] = i as u32;
            set_of[e as usize] = first.len() as u32 - 1;
            end[first.len() - 1] = i as u32 + 1;
        }
        let marked = vec![0; first.len()];
        Partition { elements, place, set_of, first, end, marked, touched: Vec::new() }
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Where the elements of a set stand.
    pub fn range(&self, set: usize) -> std::ops::Range<usize> {
        self.first[set] as usize..self.end[set] as usize
    }

    /// Marks a number for the next split; again changes nothing.
    pub fn mark(&mut self, element: u32) {
        let set = self.set_of[element as usize] as usize;
        let at = self.place[element as usize];
        let to = self.first[set] + self.marked[set];
        if at < to {
            return;
        }
        let other = self.elements[to as usize];
        self.elements[at as usize] = other;
        self.place[other as usize] = at;
        self.elements[to as usize] = element;
        self.place[element as usize] = to;
        if self.marked[set] == 0 {
            self.touched.push(set as u32);
        }
        self.marked[set] += 1;
    }

    /// Splits each set into what is marked and what is not; the smaller
    /// part becomes a new set.
    pub fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let set = set as usize;
            let (first, end) = (self.first[set], self.end[set]);
            let middle = first + std::mem::take(&mut self.marked[set]);
            if middle == end {
                continue;
            }
            let fresh = self.first.len() as u32;
            let (from, to) = if middle - first <= end - middle {
                self.first[set] = middle;
                (first, middle)
            } else {
                self.end[set] = middle;
                (middle, end)
            };
            self.first.push(from);
            self.end.push(to);
            self.marked.push(0);
            for i in from..to {
                self.set_of[self.elements[i as usize] as usize] = fresh;
            }
        }
    }
}
