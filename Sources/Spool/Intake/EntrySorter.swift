// Sorts the entries of a spool, of any number, after one listing, in bounded memory (rule 9, ARCHITECTURE.md): an external
// merge sort. Up to `runLength` entries are sorted in memory; more go to an unnamed file as sorted runs, which are then
// merged. Only a small part of each run is in memory.

import Glibc

/// An entry that a scan found. Sorts in the order of taking: by the time of its last change, then by name.
struct FoundEntry: Comparable, Sendable {
  let modified: Int64
  let recipe: String?
  let name: FileName

  static func < (left: FoundEntry, right: FoundEntry) -> Bool {
    if left.modified != right.modified { return left.modified < right.modified }
    if left.name != right.name { return left.name < right.name }
    return (left.recipe ?? "") < (right.recipe ?? "")
  }

  static func == (left: FoundEntry, right: FoundEntry) -> Bool {
    left.modified == right.modified && left.name == right.name && left.recipe == right.recipe
  }
}

/// Takes entries in any order and returns them sorted. First add all of them, then read them.
struct EntrySorter: Sendable {
  /// How many entries are in memory while they are collected.
  static let runLength = 4096

  private let recipes: [String]
  private let scratch: @Sendable () throws -> OwnedDescriptor
  private var entries: [FoundEntry] = []
  private var file: OwnedDescriptor?
  private var written: Int64 = 0
  private var runs: [SortedRun] = []
  private var place = 0
  private var isSorted = false
  /// Whether entries were left out because the file couldn't be written.
  private(set) var isIncomplete = false

  /// - Parameters:
  ///   - recipes: the recipes whose hot folders are listed.
  ///   - scratch: creates the file.
  init(recipes: [String], scratch: @escaping @Sendable () throws -> OwnedDescriptor) {
    self.recipes = recipes
    self.scratch = scratch
  }

  mutating func add(_ entry: FoundEntry) {
    entries.append(entry)
    guard entries.count >= EntrySorter.runLength * (isIncomplete ? 2 : 1) else { return }
    entries.sort()
    if !isIncomplete {
      do {
        try spill()
        return
      } catch {
        // The oldest are kept. Taking them reports why there is no file (the disk is full).
        isIncomplete = true
      }
    }
    entries.removeLast(max(0, entries.count - EntrySorter.runLength))
  }

  /// The next in order.
  mutating func next() throws -> FoundEntry? {
    if !isSorted {
      entries.sort()
      isSorted = true
    }
    var best: Int?
    for index in runs.indices {
      guard let head = try runs[index].head(recipes) else { continue }
      if let known = best, let other = try runs[known].head(recipes), !(head < other) { continue }
      best = index
    }
    let first = place < entries.count ? entries[place] : nil
    guard let best, let head = try runs[best].head(recipes) else {
      place += first == nil ? 0 : 1
      return first
    }
    if let first, first < head {
      place += 1
      return first
    }
    runs[best].advance()
    return head
  }

  private mutating func spill() throws {
    let file = try self.file ?? scratch()
    self.file = file
    var bytes = [UInt8]()
    for entry in entries { SortedRun.append(entry, recipes: recipes, to: &bytes) }
    try bytes.withUnsafeBytes { try file.write($0, at: written, path: "active/") }
    runs.append(SortedRun(file: file, from: written, to: written + Int64(bytes.count)))
    written += Int64(bytes.count)
    entries.removeAll(keepingCapacity: true)
  }
}

/// Sorted entries in a file. Each consists of its time (8 bytes), its recipe's number from 1 (2 bytes), the length of its
/// name (2 bytes) and its name.
private struct SortedRun: Sendable {
  private static let header = 12
  /// More bytes than the longest entry has.
  private static let readAhead = 2048

  private let file: OwnedDescriptor
  private let end: Int64
  private var offset: Int64
  private var buffer: [UInt8] = []
  private var used = 0
  private var current: FoundEntry?

  init(file: OwnedDescriptor, from start: Int64, to end: Int64) {
    (self.file, offset, self.end) = (file, start, end)
  }

  static func append(_ entry: FoundEntry, recipes: [String], to bytes: inout [UInt8]) {
    let recipe = entry.recipe.flatMap { recipes.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    withUnsafeBytes(of: entry.modified) { bytes += $0 }
    withUnsafeBytes(of: UInt16(clamping: recipe)) { bytes += $0 }
    withUnsafeBytes(of: UInt16(clamping: entry.name.count)) { bytes += $0 }
    bytes += entry.name.bytes
  }

  mutating func head(_ recipes: [String]) throws -> FoundEntry? {
    if current == nil { current = try read(recipes) }
    return current
  }

  mutating func advance() { current = nil }

  private mutating func read(_ recipes: [String]) throws -> FoundEntry? {
    if !isWholeEntryThere {
      buffer.removeFirst(used)
      used = 0
      let wanted = Int(min(end - offset, Int64(SortedRun.readAhead)))
      guard wanted > 0 else { return nil }
      let more = try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
        count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset, path: "active/")
      }
      offset += Int64(more.count)
      buffer += more
      guard isWholeEntryThere else { return nil }
    }
    return buffer.withUnsafeBytes { bytes in
      let recipe = Int(bytes.loadUnaligned(fromByteOffset: used + 8, as: UInt16.self))
      let start = used + SortedRun.header
      let name = bytes[start..<start + length(in: bytes)].map { CChar(bitPattern: $0) } + [0]
      let modified = bytes.loadUnaligned(fromByteOffset: used, as: Int64.self)
      used = start + name.count - 1
      return FoundEntry(
        modified: modified, recipe: recipe > 0 ? recipes[recipe - 1] : nil, name: FileName(terminated: name))
    }
  }

  private var isWholeEntryThere: Bool {
    guard buffer.count >= used + SortedRun.header else { return false }
    return buffer.withUnsafeBytes { buffer.count >= used + SortedRun.header + length(in: $0) }
  }

  private func length(in bytes: UnsafeRawBufferPointer) -> Int {
    Int(bytes.loadUnaligned(fromByteOffset: used + 10, as: UInt16.self))
  }
}
