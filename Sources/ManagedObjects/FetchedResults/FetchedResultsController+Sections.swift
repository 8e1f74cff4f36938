public import Foundation

extension FetchedResultsController {
  /// The sections, in order; nil before the first fetch and after a reset. Without section names there is one, also when
  /// it is empty; objects whose name is nil are in a section with an empty name.
  public var sections: [FetchedResultsSectionInfo<T>]? {
    managedObjectContext.confinement.check()
    guard let content = tracker?.content else { return nil }
    return content.sections.runs.indices.map { info(of: $0, content.sections, content.members) }
  }

  /// The object at a path of section and item.
  ///
  /// The path must be one of the content's, as for an array's subscript. Source: `object(at:)` of Core Data.
  public func object(at indexPath: IndexPath) -> T {
    managedObjectContext.confinement.check()
    guard let content = tracker?.content else { preconditionFailure("performFetch() comes before object(at:)") }
    precondition(
      indexPath.count == 2 && content.sections.runs.indices.contains(indexPath.section)
        && content.sections.range(of: indexPath.section).count > indexPath.item && indexPath.item >= 0,
      "no object at \(indexPath)")
    let index = content.sections.starts[indexPath.section] + indexPath.item
    return unsafeDowncast(content.members[index].object, to: T.self)
  }

  /// Where an object is; nil if it isn't in the content. Found by binary search.
  public func indexPath(forObject object: T) -> IndexPath? {
    managedObjectContext.confinement.check()
    guard let content = tracker?.content else { return nil }
    guard let member = tracker?.member(of: object), let index = content.index(of: member) else { return nil }
    return content.sections.path(of: index)
  }

  /// The titles of the sections for an index, each once, in the order of the first section that has it.
  ///
  /// Source: `sectionIndexTitles` of Core Data.
  public var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return titles.compactMap { $0 }.filter { seen.insert($0).inserted }
  }

  /// The title of a section of that name: what the delegate says, or else the first letter as a capital.
  public func sectionIndexTitle(forSectionName name: String) -> String? {
    managedObjectContext.confinement.check()
    guard let delegate else { return name.indexTitle }
    return delegate.controller(self, sectionIndexTitleForSectionName: name)
  }

  /// The number of the section to show for the title at an index of ``sectionIndexTitles``: the first that has it. nil
  /// when the title isn't at that index, where Core Data raises.
  public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
    let known = sectionIndexTitles
    guard known.indices.contains(index), known[index] == title else { return nil }
    return titles.firstIndex(of: title)
  }

  private var titles: [String?] {
    managedObjectContext.confinement.check()
    return tracker?.content.sections.runs.map { sectionIndexTitle(forSectionName: $0.name) } ?? []
  }

  func info(
    of index: Int, _ sections: SectionRuns, _ members: ContiguousArray<FetchedMember>, _ range: Range<Int>? = nil
  ) -> FetchedResultsSectionInfo<T> {
    let name = sections.runs[index].name
    return FetchedResultsSectionInfo(
      name: name, indexTitle: sectionIndexTitle(forSectionName: name), members, range ?? sections.range(of: index))
  }
}

extension FetchedResultsTracker {
  /// The member that an object is, also when its ID has become permanent since the last change was processed.
  func member(of object: ManagedObject) -> FetchedMember? {
    if let member = content.member(object.id), member.object === object { return member }
    return temporaries.first { $0.object === object }
  }
}
