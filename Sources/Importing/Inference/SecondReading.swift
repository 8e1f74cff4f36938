import ManagedObjects

/// Reads a file again, when the types and the keys of all files are known: tries its candidate keys and
/// references.
struct SecondReading {
  private struct KeyTrial {
    let candidate: KeyPlan.Candidate
    var keys: KeySet
    var isUnique = true
    var isUndetermined = false
  }

  private let file: DraftFile
  private let files: [DraftFile]
  private let limit: Int
  private var trials: [KeyTrial]
  private(set) var probes: [ReferenceProbe]
  /// The columns that are examined.
  private let columns: [Int]
  private let ownKey: Int?

  init(_ index: Int, of files: [DraftFile], limit: Int, budget: HashBudget) {
    self.files = files
    self.limit = limit
    file = files[index]
    trials = file.keyPlan.candidates.map { KeyTrial(candidate: $0, keys: KeySet(budget)) }
    probes = ReferenceProbe.candidates(index, of: files)
    ownKey = file.keyPlan.targets.first
    columns = Set(trials.flatMap(\.candidate.columns) + probes.map(\.column) + (ownKey.map { [$0] } ?? [])).sorted()
  }

  var isNeeded: Bool { !trials.isEmpty || !probes.isEmpty }

  /// - Throws: ``InferenceError``.
  mutating func run() throws {
    var hashes = [UInt64?](repeating: nil, count: file.columns.count)
    _ = try file.profile.input.read { batch in
      for record in 0..<batch.count where !batch.hasProblems || batch.problem(record) == nil {
        for column in columns { hashes[column] = hash(batch.cell(record, column), batch, file.columns[column].type) }
        tryKeys(hashes)
        tryReferences(hashes, batch, record)
      }
    }
  }

  /// The key that was found, and a note if better ones couldn't be tried to the end.
  mutating func key() -> (columns: [Int], note: String?) {
    defer { for index in trials.indices { trials[index].keys.removeAll() } }
    if let single = file.keyPlan.single { return ([single], nil) }
    var found = file.keyPlan.fallback
    for trial in trials where trial.isUnique && !trial.isUndetermined {
      if found.map({ trial.candidate.tier < $0.tier }) ?? true { found = trial.candidate }
    }
    let open = trials.filter { $0.isUndetermined && $0.candidate.tier < (found?.tier ?? .max) }
    let note = open.first.map { trial in
      "whether \(names(trial.candidate.columns)) are unique together wasn't determined: there are too many values"
    }
    return (found?.columns ?? [], note)
  }

  private func names(_ columns: [Int]) -> String { columns.map { file.columns[$0].name }.joined(separator: " and ") }

  private mutating func tryKeys(_ hashes: [UInt64?]) {
    for index in trials.indices where trials[index].isUnique && !trials[index].isUndetermined {
      var hash: UInt64 = 0
      for column in trials[index].candidate.columns { hash = KeyHash.combine(hash, hashes[column] ?? 0) }
      switch trials[index].keys.count < limit ? trials[index].keys.insert(hash) : .full {
      case .new: continue
      case .known: trials[index].isUnique = false
      case .full: trials[index].isUndetermined = true
      }
      trials[index].keys.removeAll()
    }
  }

  private mutating func tryReferences(_ hashes: [UInt64?], _ batch: RecordBatch, _ record: Int) {
    for index in probes.indices {
      let probe = probes[index]
      // Without a name that suggests it, one miss is enough.
      guard probe.score > 0 || probe.missed == 0, let own = hashes[probe.column] else { continue }
      let target = files[probe.target]
      let cell = batch.cell(record, probe.column)
      // Texts are compared as they are: the key's type decides.
      let isText = target.columns[probe.key].type.type == .string
      let value = isText ? hash(cell, batch, InferredType(type: .string)) ?? own : own
      if target.profile.columns[probe.key].keys.contains(value) {
        probes[index].matched += 1
        if let ownKey, file.profile.input == target.profile.input, hashes[ownKey] == value { probes[index].own += 1 }
      } else {
        probes[index].missed += 1
        if probe.missing == nil { probes[index].missing = String(batch.string(cell).prefix(40)) }
      }
    }
  }

  /// The hash of a cell's value; nil if it has none.
  private func hash(_ cell: Cell, _ batch: RecordBatch, _ type: InferredType) -> UInt64? {
    switch cell.kind {
    case .missing, .null, .empty, .nested, .fault: return nil
    case .yes: return 1
    case .no: return 2
    case .text, .number, .quantity, .date:
      return batch.withBytes(of: cell) { bytes -> UInt64? in
        if let nulls = file.profile.input.nulls, nulls.contains(bytes) || nulls.contains(ValueConverter.trimmed(bytes))
        {
          return nil
        }
        if type.type == .string { return bytes.isEmpty ? nil : KeyHash.of(bytes) }
        let text = ValueConverter.trimmed(bytes)
        if text.isEmpty { return nil }
        guard type.type == .date, type.dateFormat.flatMap({ UnixTimeUnit(rawValue: $0) }) == nil else {
          return KeyHash.of(text)
        }
        // Two spellings of one day are one value.
        let form = type.dateFormat.flatMap { format in DateForm.all.first { $0.format == format } }
        let instant =
          form.map { $0.pattern.microsecondsSince1970(text) }
          ?? ISODate.microseconds(parsing: text.assumingMemoryBound(to: UInt8.self))
        return instant.map { KeyHash.combine(3, UInt64(bitPattern: $0)) }
      }
    }
  }
}

/// A column that may hold the keys of another file, or of its own, and the number of its values that do.
struct ReferenceProbe {
  let column: Int
  /// The file that it may refer to, and the key column there.
  let target, key: Int
  /// How clearly the names suggest it; 0 for values alone.
  let score: Int
  var matched: Int64 = 0
  var missed: Int64 = 0
  /// A value that doesn't exist there.
  var missing: String?
  /// Values equal to the record's own key.
  var own: Int64 = 0

  /// The distinct values needed for a reference that no name suggests.
  static let unnamedValues = 10

  /// Whether it is a reference: all values exist there, and they don't just repeat the records' own keys.
  var holds: Bool { matched > 0 && missed == 0 && own * 2 <= matched }

  /// The candidates of one of the files.
  static func candidates(_ index: Int, of files: [DraftFile]) -> [ReferenceProbe] {
    let file = files[index]
    var found: [ReferenceProbe] = []
    for (column, facts) in file.columns.enumerated() where facts.isComparable && !facts.isLeftOut {
      for (target, other) in files.enumerated() {
        for key in other.keyPlan.targets where target != index || key != column {
          let keyFacts = other.columns[key]
          guard fits(facts.type, keyFacts.type), other.profile.columns[key].knowsAllValues else { continue }
          let names = Set(other.columns.indices.filter { $0 != key }.map { other.columns[$0].words.joined })
          let score = facts.words.refers(
            to: keyFacts.words, entity: other.entityWords, base: other.baseWords, columns: names,
            isSame: target == index)
          if file.keyPlan.targets.contains(column), !isExtension(facts, file, score) { continue }
          let isTelling =
            keyFacts.type.type == .string && facts.type.type == .string
            && facts.distinct.map { $0 >= unnamedValues } ?? true && file.profile.columns[column].leastLength > 1
          if score > 0 || isTelling {
            found.append(ReferenceProbe(column: column, target: target, key: key, score: score))
          }
        }
      }
    }
    return found
  }

  /// Whether a file's own key is also another's: customer_details.csv, whose key is customer_id.
  private static func isExtension(_ column: DraftFile.Column, _ file: DraftFile, _ score: Int) -> Bool {
    score >= 3 && !column.words.isGeneric && column.words.stem != file.entityWords
      && column.words.stem != file.baseWords
  }

  private static func fits(_ type: InferredType, _ key: InferredType) -> Bool {
    switch key.type {
    case .string: true
    case .uuid: type.type == .uuid
    default: type.type.integerRange != nil
    }
  }

  /// The best confirmed candidate of one column.
  static func best(_ probes: [ReferenceProbe], in files: [DraftFile]) -> ReferenceProbe? {
    func size(_ probe: ReferenceProbe) -> Int { files[probe.target].profile.columns[probe.key].keys.count }
    return probes.filter(\.holds).min { ($1.score, size($0), $0.target) < ($0.score, size($1), $1.target) }
  }
}
