// The system's words, each declared once: jobs, lanes, schedules, their limits, and how numbers, sizes, durations and times
// are read and shown. The types are Codable, and their coding keys are the names on the wire, in tickets and in the
// configuration. Nothing here does any work: this target imports nothing of ours but the speller, and everything above
// may import it.

@_exported public import Spelling
