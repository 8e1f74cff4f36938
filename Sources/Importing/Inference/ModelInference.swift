import ManagedObjects

// From files to a model:
//
//   paths ─▶ inputs ─▶ first reading: types, nulls, unique columns ─▶ second: keys of several columns, references ─▶ model
//
// 1. Files are streamed, twice; memory is by the column, and remembered values have one bound for all files.
// 2. Everything reported as unique is, so every record that was read can be imported with the model.

/// Infers the model of files: the types of their columns, their keys, and references to other files.
package struct ModelInference {
  /// The values remembered of a column, or of several together, to find out whether they are unique.
  package var keyLimit = 1_000_000
  /// The values remembered of all columns together: eight bytes each.
  package var hashLimit = 24_000_000
  /// How the files are read.
  package var reader: ReaderOptions
  /// Words for no value, which the imports of the files then need as well.
  package var nulls: [String]

  /// Whether the first line of a CSV file names its columns. If not, and the options don't name them either, they are numbered.
  package var hasHeader = true

  package init(reader: ReaderOptions = ReaderOptions(), nulls: [String] = []) {
    self.reader = reader
    self.nulls = nulls
  }

  /// - Parameter values: options by the names that recipes give them: those of reading, and `nulls`.
  /// - Throws: ``ReaderError/invalidOption(name:reason:)``.
  package init(named values: [String: [String]]) throws {
    var values = values
    nulls = values.removeValue(forKey: ImportOptionKey.nulls.rawValue) ?? []
    if values["columns"] == nil, values["header"] == ["false"] {
      values["header"] = nil
      hasHeader = false
    }
    reader = try ReaderOptions(named: values)
  }

  /// The model of files, of all files in folders, and of all members of archives.
  /// - Throws: ``InferenceError``.
  package func run(_ paths: [String]) throws -> InferredModel {
    let (inputs, notes) = try InferenceInput.find(paths, options: reader)
    return try run(inputs, notes, paths)
  }

  /// The model of some of the members of an archive, or of some sheets of a workbook.
  /// - Parameter name: the archive's, if its path doesn't say it.
  /// - Throws: ``InferenceError``.
  func run(members: [String], of path: String, named name: String) throws -> InferredModel {
    let inputs = members.map { member in
      var options = reader
      options.member = member
      return InferenceInput(path: path, member: member, options: options, fileName: name)
    }
    return try run(inputs, [], members)
  }

  private func run(
    _ inputs: [InferenceInput], _ notes: [String], _ paths: [String]
  ) throws -> InferredModel {
    var (inputs, notes) = (inputs, notes)
    inputs = try inputs.map { input in
      var input = try hasHeader ? input : input.namingColumns()
      if !nulls.isEmpty { input.nulls = NullWords(nulls) }
      return input
    }
    let budget = HashBudget(hashLimit)
    var names: Set<String> = []
    var files: [DraftFile] = []
    for input in inputs {
      let profile = try FileProfile(input, keyLimit: keyLimit, budget: budget)
      guard !profile.columns.isEmpty else {
        notes.append(
          "\(input.shownName) was skipped: it has no records, whose values would tell the types of its columns")
        continue
      }
      let name = NameText.unique(EntityNames.entity(of: FileNames.base(of: input.name)), among: &names)
      var file = DraftFile(profile, entity: name)
      let unique = file.columns.indices.filter { file.columns[$0].isComplete && file.columns[$0].uniqueness == .unique }
      file.keepValues(of: Set(unique))
      files.append(file)
    }
    inputs.removeAll()
    guard !files.isEmpty else { throw InferenceError.noFiles(paths: paths) }
    let plans = files.indices.map { KeyPlan($0, of: files) }
    for index in files.indices {
      files[index].keyPlan = plans[index]
      files[index].keepValues(of: Set(plans[index].targets))
    }
    try readAgain(&files, budget)
    if !nulls.isEmpty {
      notes.append(
        "import the files with nulls: [\(nulls.joined(separator: ", "))], without which records are rejected")
    }
    return try InferredModel(files, notes: notes)
  }

  private func readAgain(_ files: inout [DraftFile], _ budget: HashBudget) throws {
    var found: [[ReferenceProbe]] = []
    var keys: [(columns: [Int], note: String?)] = []
    for index in files.indices {
      var reading = SecondReading(index, of: files, limit: keyLimit, budget: budget)
      if reading.isNeeded { try reading.run() }
      keys.append(reading.key())
      found.append(reading.probes)
    }
    for index in files.indices {
      files[index].key = keys[index].columns
      files[index].keyNote = keys[index].note
    }
    for index in files.indices {
      // A column that isn't the key after all, because several columns are a better one, can't be referred to.
      files[index].references = found[index].filter { files[$0.target].key == [$0.key] }
    }
  }
}

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
    /// Whether it can't become an attribute of a plain type.
    let isLeftOut: Bool
    /// Whether the file itself says that every record has a value.
    let isRequired: Bool
    /// What stands in it, if all its values are nested.
    let nesting: NestedProfile?

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
    let type = profile.type
    self.type = type
    let isText = type.type == .string
    nulls = records - profile.present - profile.nested - (isText ? 0 : profile.blank)
    isLeftOut = profile.nested > 0 || profile.name.isEmpty
    isRequired = profile.declaration?.isRequired == true
    nesting = profile.nesting
    // With spaces around them, two spellings of one number may look like two values.
    let isPlain = isText || profile.padded == 0
    isComplete = records > 0 && profile.present == records && profile.blank == 0 && !isLeftOut
    uniqueness = isPlain || profile.uniqueness == .repeated ? profile.uniqueness : .undetermined
    distinct = profile.distinct
  }
}
