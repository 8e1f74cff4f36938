import Importing

extension RecipeConfiguration {
  enum Key: String, CaseIterable {
    case store, entity, mode, lane, priority, format, delimiter, quote, header, columns, root
    case maxAttempts = "max_attempts"
    case rejectLimit = "reject_limit"
    case batchSize = "batch_size"
  }

  /// The names that a recipe may refer to; nil where the file's own are unreadable, and nothing can be said of any.
  struct Names {
    var stores: [String]?
    var lanes: [String]?
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry, names: Names) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    let store = section.required(.store, "the name of one of the `stores`").flatMap { value in
      names.stores.map(value.name(among:)) ?? value.text()
    }
    let entity = section.required(.entity, "the entity of the store's model that records become")?.text()
    var recipe = RecipeConfiguration(name: entry.name, store: store ?? "", entity: entity ?? "")
    if let value = section[.lane] {
      recipe.lane = (names.lanes.map(value.name(among:)) ?? value.text()) ?? recipe.lane
    }
    if let priority = section[.priority]?.integer(-1_000_000...1_000_000) { recipe.priority = priority }
    if let attempts = section[.maxAttempts]?.integer(1...1000) { recipe.maxAttempts = attempts }
    recipe.options.mode = section[.mode]?.word(of: ImportOptions.Mode.self)
    section[.rejectLimit]?.readLimit(0...1_000_000_000, into: &recipe.options.rejectLimit)
    if let size = section[.batchSize]?.integer(1...1_000_000) { recipe.options.batchSize = size }
    recipe.options.reader = ReaderOptions(section)
    guard isNamedWell, store != nil, entity != nil else { return nil }
    self = recipe
  }
}

extension ReaderOptions {
  /// What a recipe says of reading.
  fileprivate init(_ recipe: YAMLSection<RecipeConfiguration.Key>) {
    self.init()
    format = recipe[.format]?.word(of: SourceFormat.self)
    delimiter = recipe[.delimiter]?.delimiter()
    recipe[.quote]?.readQuote(into: &quote)
    if let header = recipe[.header]?.flag() { self.header = header }
    columns = recipe[.columns]?.columnNames()
    root = recipe[.root]?.keyPath()
    reportConflicts(in: recipe)
  }

  /// Options that contradict each other, or that the format has no use for.
  private func reportConflicts(in recipe: YAMLSection<RecipeConfiguration.Key>) {
    let table = "only CSV and TSV have it, and the format is \(format?.rawValue ?? "")"
    switch format {
    case .json, .ndjson, .fixedWidth, .xml, .plist:
      for key in [RecipeConfiguration.Key.delimiter, .quote, .header] { recipe[key]?.conflict(table) }
    case .tsv:
      if let delimiter, delimiter != "\t" {
        recipe[.delimiter]?.conflict("the delimiter of TSV is a tab; write `format: csv`, or remove this key")
      }
    case .csv, nil: break
    }
    if let format, format != .json, format != .plist {
      recipe[.root]?.conflict("only JSON documents and property lists have it, and the format is \(format.rawValue)")
    }
    if !header, recipe[.columns] == nil, format == nil || format == .csv || format == .tsv {
      recipe[.header]?.conflict("without a header line the file can't name its columns; add `columns: [a, b]`")
    }
    if let quote, quote == delimiter {
      (recipe[.quote] ?? recipe[.delimiter])?.conflict("it is the delimiter, too")
    }
  }
}

extension YAMLValue {
  fileprivate func conflict(_ problem: String) { report(.conflict(key: key, problem: problem)) }

  /// A number, or the word `none` for no limit.
  fileprivate func readLimit(_ allowed: ClosedRange<Int>, into limit: inout Int?) {
    if node.scalar?.string == "none" {
      limit = nil
    } else if let number = integer(allowed) {
      limit = number
    }
  }

  /// One character, or the word `tab`.
  fileprivate func delimiter() -> String? {
    guard let scalar = scalar("one character, or tab") else { return nil }
    return scalar.string == "tab" ? "\t" : character(scalar.string, orWord: "tab")
  }

  /// One character, or the word `none` where quotes are ordinary text.
  fileprivate func readQuote(into quote: inout String?) {
    guard let scalar = scalar("one character, or none") else { return }
    if scalar.string == "none" {
      quote = nil
    } else if let character = character(scalar.string, orWord: "none") {
      quote = character
    }
  }

  private func character(_ text: String, orWord word: String) -> String? {
    guard text.utf8.count == 1, let byte = text.utf8.first, byte == 9 || (0x20..<0x7F).contains(byte) else {
      wrong("it must be one character of ASCII, or the word `\(word)`")
      return nil
    }
    return text
  }

  fileprivate func columnNames() -> [String]? {
    guard let elements = elements(of: "names") else { return nil }
    if elements.isEmpty { wrongType("a list of at least one name") }
    var seen = Set<String>()
    return elements.compactMap { element in
      guard let name = element.anyText() else { return nil }
      if !seen.insert(name).inserted { element.wrong("the name is in the list twice") }
      return name
    }
  }

  /// Keys with dots between them.
  fileprivate func keyPath() -> String? {
    guard let text = text() else { return nil }
    if text.split(separator: ".", omittingEmptySubsequences: false).contains("") {
      wrong("between its dots there must be keys, such as `data.items`")
    }
    return text
  }
}
