import Importing
import StrictYAML

extension ImportOptions {
  /// Takes what a section says, and leaves everything else. Problems are reported.
  mutating func read(_ section: YAMLSection<ImportOptionKey>) {
    if let atomic = section[.atomic]?.word(of: Atomicity.self) { atomicity = atomic }
    if let flag = section[.dryRun]?.flag() { isDryRun = flag }
    if let flag = section[.allowEmpty]?.flag() {
      allowsEmpty = flag
      if flag, let mode, !mode.deletesOthers {
        section[.allowEmpty]?.conflict("only replace and synchronise have it, and the mode is \(mode.rawValue)")
      }
    }
    if let flag = section[.skipKnownFiles]?.flag() { skipsKnownFiles = flag }
    if let flag = section[.keepFailed]?.flag() { keepsFailed = flag }
    if let flag = section[.lineage]?.flag() { lineage = flag }
    section[.rejectLimit]?.readLimit(0...1_000_000_000, into: &rejectLimit)
    section[.rejectShare]?.readShare(into: &rejectShare)
    if let size = section[.batchSize]?.integer(1...1_000_000) { batchSize = size }
    if let value = section[.set] {
      set = FileSet(value) ?? set
      if section[.atomic] != nil, atomicity == .batch { section[.atomic]?.conflict("a set is committed as a whole") }
    }
    if let value = section[.from] { from = IncrementalSource(value) ?? from }
    reader.read(section)
    mapping.read(section)
    reader.reportConflicts(in: section)
  }
}

extension MappingOptions {
  fileprivate mutating func read(_ section: YAMLSection<ImportOptionKey>) {
    if let names = section[.key]?.keyNames() { key = names }
    section[.properties]?.readProperties(into: &properties)
    if let texts = section[.nulls]?.texts() { nulls = texts }
    if let flag = section[.trim]?.flag() { trims = flag }
    if let predicate = section[.filter]?.text() { filter = predicate }
    if let names = section[.ignoredColumns]?.texts() { ignoredColumns = names }
    section[.schema]?.readContract(into: &schema)
  }
}

extension YAMLValue {
  /// One term for everything, or a mapping of what differs to terms. What isn't said stays.
  fileprivate func readContract(into contract: inout SchemaContract) {
    if node.string != nil {
      if let term = word(of: SchemaContract.Term.self) { contract = SchemaContract(term) }
    } else if let section = YAMLSection<SchemaContract.Subject>(self) {
      for subject in SchemaContract.Subject.allCases {
        if let term = section[subject]?.word(of: SchemaContract.Term.self) { contract[subject] = term }
      }
    }
  }

  /// One name as written, or a list of them.
  fileprivate func namesOrName() -> [String]? {
    node.string == nil ? columnNames() : anyText().map { [$0] }
  }

  /// The names of attributes, which contain no commas: those of a command line may be separated by them.
  fileprivate func keyNames() -> [String]? {
    node.takesTextsForNumbers ? columnNames() : namesOrName()
  }

  /// A number, or the word `none` for no limit.
  fileprivate func readLimit(_ allowed: ClosedRange<Int>, into limit: inout Int?) {
    if node.string == "none" {
      limit = nil
    } else if let number = integer(allowed) {
      limit = number
    }
  }

  /// A percentage, or the word `none` for no limit.
  fileprivate func readShare(into share: inout Double?) {
    guard let text = scalar("a percentage such as 5%") else { return }
    if text == "none" {
      share = nil
    } else if text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) {
      share = percent / 100
    } else {
      wrong("write a percentage from 0% to 100%, such as 5%, or `none`")
    }
  }
}

private enum OtherValues: String, CaseIterable { case keep, reject }

extension YAMLValue {
  /// What is said of each property: a mapping, or just the name of its column. What was said of one before stays where nothing
  /// is said now.
  func readProperties(into properties: inout [String: PropertyRule]) {
    guard let entries = entries(of: "a mapping of attributes and relationships to what becomes them") else { return }
    for entry in entries {
      var rule = properties[entry.name] ?? PropertyRule()
      if entry.value.node.string != nil {
        if let column = entry.value.anyText() { (rule.column, rule.columns, rule.constant) = (column, nil, nil) }
      } else if let section = YAMLSection<PropertyRuleKey>(entry.value) {
        rule.read(section)
      }
      properties[entry.name] = rule
    }
  }
}

extension PropertyRule {
  fileprivate mutating func read(_ section: YAMLSection<PropertyRuleKey>) {
    // A constant goes in place of a column or default that was said before, and the other way round.
    if section[.constant] != nil { (column, columns, defaultValue) = (nil, nil, nil) }
    if section[.column] != nil || section[.defaultValue] != nil { constant = nil }
    if let names = section[.column]?.namesOrName() {
      column = names.count == 1 ? names.first : nil
      columns = names.count == 1 ? nil : names
    }
    if let text = section[.constant]?.anyText(orEmpty: true) { constant = text }
    if let text = section[.defaultValue]?.anyText(orEmpty: true) { defaultValue = text }
    if let texts = section[.nulls]?.texts() { nulls = texts }
    if let flag = section[.trim]?.flag() { trims = flag }
    if let format = section[.dateFormat]?.anyText() { dateFormat = format }
    if let name = section[.timeZone]?.text() { timeZone = name }
    if let text = section[.decimalSeparator]?.anyText() { decimalSeparator = text }
    if let text = section[.groupingSeparator]?.anyText() { groupingSeparator = text }
    if let text = section[.unit]?.anyText() { unit = text }
    if let word = section[.negatives]?.word(of: Negatives.self) { negatives = word }
    if let word = section[.binaryEncoding]?.word(of: BinaryEncoding.self) { binaryEncoding = word }
    if let words = section[.trueWords]?.texts() { trueWords = words }
    if let words = section[.falseWords]?.texts() { falseWords = words }
    if let map = section[.values]?.textMap() { values = map }
    if let word = section[.otherValues]?.word(of: OtherValues.self) { refusesOtherValues = word == .reject }
    if let value = section[.mask], let text = value.text() {
      if let mask = ValueMask(text) { self.mask = mask } else { value.wrong("write \(ValueMask.forms)") }
    }
    if let text = section[.separator]?.anyText() { separator = text }
    if let names = section[.key]?.keyNames() {
      key = names.count == 1 ? names.first : nil
      keys = names.count == 1 ? nil : names
    }
    if let flag = section[.create]?.flag() { creates = flag }
    if let word = section[.unresolved]?.word(of: Unresolved.self) { unresolved = word }
    if constant != nil, section[.constant] != nil { section[.column]?.conflict("`constant` says what the value is") }
    if refusesOtherValues, values == nil {
      section[.otherValues]?.conflict("there are no `values` that it could be said of")
    }
  }
}

extension YAMLValue {
  private enum FieldKey: String, CaseIterable { case name, width, start, end }

  /// Columns of fixed width: `{name: id, width: 5}` or `{name: id, start: 1, end: 5}`, in short `id:5` or `id:1-5`.
  func fields() -> [FixedWidthLayout.Column]? {
    guard let elements = fieldElements() else { return nil }
    if elements.isEmpty { wrongType("a list of at least one column") }
    let columns = elements.compactMap { $0.field() }
    return columns.count == elements.count ? columns : nil
  }

  /// The list; where texts stand for other types, also one with commas between its elements.
  private func fieldElements() -> [YAMLValue]? {
    guard node.takesTextsForNumbers, let text = node.string else {
      return elements(of: "columns such as id:5")
    }
    return text.split(separator: ",", omittingEmptySubsequences: false).enumerated().map {
      YAMLValue(key: "\(key)[\($0 + 1)]", node: YAMLNode(text: String($1)), reader: reader)
    }
  }

  private func field() -> FixedWidthLayout.Column? {
    guard node.string == nil else { return shortField() }
    guard let section = YAMLSection<FieldKey>(self) else { return nil }
    let places = 1...(1 << 30)
    let name = section.required(.name, "the column's name")?.anyText()
    let column = FixedWidthLayout.Column(
      name ?? "", width: section[.width]?.integer(places), start: section[.start]?.integer(places),
      end: section[.end]?.integer(places))
    return name == nil ? nil : column
  }

  private func shortField() -> FixedWidthLayout.Column? {
    guard let text = anyText() else { return nil }
    if let column = FixedWidthLayout.Column(short: text) { return column }
    wrong(FixedWidthLayout.Column.shortForm)
    return nil
  }
}
