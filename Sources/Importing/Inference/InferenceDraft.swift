import ManagedObjects

/// A file while its model is being inferred.
struct DraftFile {
  /// A column with its statistics and the analysis of its name.
  struct Column {
    let name: String
    let words: ColumnName
    let type: InferredType
    let uniqueness: ColumnProfile.Uniqueness
    let distinct: Int?
    let nulls: Int64
    /// Whether every record has a value that can be compared with others.
    let isComplete: Bool
    /// Whether it can't become an attribute.
    let isLeftOut: Bool

    /// Whether its values can be parts of a key.
    var isComparable: Bool {
      switch type.type {
      case .string, .uuid, .integer16, .integer32, .integer64: true
      default: false
      }
    }
  }

  var profile: FileProfile
  let entity: String
  /// The words of the entity's name and of the file's, in lower case.
  let entityWords, baseWords: [String]
  let columns: [Column]
  var keyPlan = KeyPlan()
  /// The columns of its key, in the order of the file; empty if none was found.
  var key: [Int] = []
  var keyNote: String?
  var references: [ReferenceProbe] = []

  init(_ profile: FileProfile, entity: String) {
    self.profile = profile
    self.entity = entity
    entityWords = EntityNames.words(of: entity).map { $0.lowercased() }
    baseWords = EntityNames.words(of: FileNames.base(of: profile.input.name)).map { $0.lowercased() }
    columns = profile.columns.map { Column($0, records: profile.records) }
  }

  /// Forgets the values of all columns but these.
  mutating func keepValues(of kept: Set<Int>) {
    for index in profile.columns.indices where !kept.contains(index) { profile.columns[index].keys.removeAll() }
  }
}

extension DraftFile.Column {
  fileprivate init(_ profile: ColumnProfile, records: Int64) {
    name = profile.name
    words = ColumnName(profile.name)
    let type = profile.types.type(named: profile.name)
    self.type = type
    let isText = type.type == .string
    nulls = records - profile.present - profile.nested - (isText ? 0 : profile.blank)
    isLeftOut = profile.nested > 0
    // With spaces around them, two spellings of one number may look like two values.
    let isPlain = isText || profile.padded == 0
    isComplete = records > 0 && profile.present == records && profile.blank == 0 && !isLeftOut
    uniqueness = isPlain || profile.uniqueness == .repeated ? profile.uniqueness : .undetermined
    distinct = profile.distinct
  }
}
