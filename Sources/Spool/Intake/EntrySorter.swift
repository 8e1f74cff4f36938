// The entries of a spool in order, however many they are, after one listing (rule 9): so many are sorted in memory, what is
// more goes to an unnamed file in sorted runs, which are then merged. Of each run only a small part is in memory.

import Glibc

/// Takes entries in any order and gives them back in their own. To be filled first, then emptied.
struct EntrySorter: Sendable {
  /// So many entries are in memory while they are collected.
  static let runLength = 4096

  private let recipes: [String]
  private let scratch: @Sendable () throws -> OwnedDescriptor
  private var entries: [FoundEntry] = []
  private var file: OwnedDescriptor?
  private var written: Int64 = 0
  private var runs: [SortedRun] = []
  private var place = 0
  private var isSorted = false
  /// Whether entries had to be left out because the file couldn't be written.
  private(set) var isIncomplete = false

  /// - Parameters:
  ///   - recipes: those that the entries may be of.
  ///   - scratch: makes the file.
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
        // The oldest are kept. Why there is no file (the disk is full) is told by what is taken.
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

/// Sorted entries in a file. Each is its time (8 bytes), its recipe's number from 1 (2 bytes), the length of its name (2
/// bytes) and its name.
private struct SortedRun: Sendable {
  private static let header = 12
  /// More than the longest entry.
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
