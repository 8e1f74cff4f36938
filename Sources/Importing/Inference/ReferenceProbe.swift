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
