import Foundation

/// The disk of a machine that loses its power: what it may hold afterwards.
///
/// A change of a content is on the disk when the file was synced after it; a change of a name, when its folder was: of a rename,
/// that of the new name.
/// Of the rest any part may be there, and of a write any piece; of the changes of one name, none without those before. What is
/// in a folder is lost with it. So strict is no file system of Linux, which is why it shows what relies on one.
struct CrashDisk {
  /// Files and folders, by their paths.
  struct Tree {
    enum Node: Equatable {
      case folder
      case file(DiskJournal.FileID)
    }

    var nodes: [String: Node] = [:]
    var contents: [DiskJournal.FileID: Data] = [:]
  }

  /// What of that which isn't sure to be on the disk is there.
  enum Choice: CaseIterable {
    case nothing, everything, some, most, namesOnly, contentsOnly
  }

  private let start: Tree
  private let journal: DiskJournal
  /// For each entry, those without which it can't be.
  private let needs: [[Int]]

  init(_ start: Tree, _ journal: DiskJournal) {
    (self.start, self.journal) = (start, journal)
    var last: [String: Int] = [:]
    var inside: [String: [Int]] = [:]
    needs = journal.entries.enumerated().map { index, entry in
      guard case .change(let change) = entry, !change.names.isEmpty else { return [] }
      var needed: [Int] = []
      for name in change.names {
        if let earlier = last[name] { needed.append(earlier) }
        if case .removeFolder = change { needed += inside[name] ?? [] }
      }
      for name in change.names {
        last[name] = index
        inside[DiskJournal.parent(of: name), default: []].append(index)
      }
      return needed
    }
  }

  var count: Int { journal.entries.count }

  /// How many submissions had been acknowledged before an entry.
  func acknowledged(before cut: Int) -> Int {
    journal.entries[..<cut].count { if case .acknowledged = $0 { true } else { false } }
  }

  /// What may be on the disk when the power fails before an entry.
  /// - Parameter tears: whether one of the writes may be there in part.
  func state(before cut: Int, _ choice: Choice, _ random: inout SeededGenerator, tears: Bool = true) -> Tree {
    let sure = durable(before: cut)
    var isThere = [Bool](repeating: false, count: cut)
    var torn: Int?
    for index in 0..<cut {
      guard case .change(let change) = journal.entries[index] else { continue }
      let isChosen =
        switch choice {
        case .nothing: false
        case .everything: true
        case .some: Bool.random(using: &random)
        case .most: Int.random(in: 0..<10, using: &random) > 0
        case .namesOnly: !change.names.isEmpty
        case .contentsOnly: change.names.isEmpty
        }
      if sure.contains(index) || isChosen { isThere[index] = true }
      if tears, isChosen, !sure.contains(index), case .write = change, Bool.random(using: &random) { torn = index }
    }
    // Later ones first, so that what they need is there before that is asked for what it needs.
    for index in stride(from: cut - 1, through: 0, by: -1) where isThere[index] {
      for needed in needs[index] { isThere[needed] = true }
    }
    var tree = start
    for index in 0..<cut where isThere[index] {
      guard case .change(var change) = journal.entries[index] else { continue }
      if index == torn, case .write(let file, let offset, let bytes) = change {
        change = Self.piece(of: bytes, file, offset, &random)
      }
      tree.apply(change)
    }
    return tree
  }

  private static func piece(
    of bytes: Data, _ file: DiskJournal.FileID, _ offset: Int, _ random: inout SeededGenerator
  ) -> DiskJournal.Change {
    let length = Int.random(in: 0..<max(1, bytes.count), using: &random)
    // Its beginning, or its end.
    return Bool.random(using: &random)
      ? .write(file, offset: offset, bytes.prefix(length))
      : .write(file, offset: offset + bytes.count - length, bytes.suffix(length))
  }

  /// The changes that are sure to be on the disk.
  private func durable(before cut: Int) -> Set<Int> {
    var sure: Set<Int> = []
    var contents: [DiskJournal.FileID: [Int]] = [:]
    var names: [String: [Int]] = [:]
    // Of each change of names, the folders that haven't been synced since.
    var waiting: [Int: Set<String>] = [:]
    func synced(_ folder: String, _ begin: Int) {
      for index in names[folder] ?? [] where index < begin {
        waiting[index]?.remove(folder)
        if waiting[index]?.isEmpty == true { sure.insert(index) }
      }
      names[folder]?.removeAll { $0 < begin }
    }
    for index in 0..<cut {
      switch journal.entries[index] {
      case .change(let change):
        if let file = change.file { contents[file, default: []].append(index) }
        let folders = change.folders
        if !folders.isEmpty { waiting[index] = folders }
        for folder in folders { names[folder, default: []].append(index) }
      case .syncedFile(let file, let begin):
        sure.formUnion((contents[file] ?? []).filter { $0 < begin })
        contents[file]?.removeAll { $0 < begin }
      case .syncedFolder(let folder, let begin): synced(folder, begin)
      case .syncedAll(let begin):
        for file in contents.keys { sure.formUnion((contents[file] ?? []).filter { $0 < begin }) }
        for folder in Array(names.keys) { synced(folder, begin) }
      case .acknowledged, .other: break
      }
    }
    return sure
  }
}

extension CrashDisk.Tree {
  mutating func apply(_ change: DiskJournal.Change) {
    // Of a rename, the new one.
    if let folder = change.names.last.map(DiskJournal.parent), !folder.isEmpty, nodes[folder] != .folder { return }
    switch change {
    case .create(let path, let file):
      nodes[path] = .file(file)
      if contents[file] == nil { contents[file] = Data() }
    case .makeFolder(let path): nodes[path] = .folder
    case .write(let file, let offset, let bytes):
      var content = contents[file] ?? Data()
      if content.count < offset + bytes.count { content.append(Data(count: offset + bytes.count - content.count)) }
      content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      contents[file] = content
    case .truncate(let file, let length):
      let content = contents[file] ?? Data()
      contents[file] = content.prefix(length) + Data(count: max(0, length - content.count))
    case .rename(let from, let to):
      for (path, node) in nodes where path == from || path.hasPrefix(from + "/") {
        nodes[path] = nil
        nodes[to + path.dropFirst(from.count)] = node
      }
    case .link(let from, let to): nodes[to] = nodes[from]
    case .unlink(let path): nodes[path] = nil
    case .removeFolder(let path):
      for name in nodes.keys where name == path || name.hasPrefix(path + "/") { nodes[name] = nil }
    }
  }
}
