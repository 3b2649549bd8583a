"""Croissant 1.0 metadata of a built folder: its files, and a record set for each split."""

from collections.abc import Sequence
from typing import Any

from lyricsim_dataset.lyricsim import SAMPLE_NAME, VERSION, Column, LyricSIM
from lyricsim_dataset.manifest import BuiltConfig, BuiltFile
from lyricsim_dataset.sources import UPSTREAM_REPOSITORY
from lyricsim_tools.citation import PAPER_ID

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
# The month of the paper's first version, which its arXiv number names.
_PAPER_MONTH = f"20{PAPER_ID[:2]}-{PAPER_ID[2:4]}"
_DATA_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float"}


def croissant(builder: LyricSIM, built: Sequence[BuiltConfig]) -> dict[str, Any]:
    """The metadata of everything that was built, as JSON-LD.

    Args:
        builder: any configuration's builder of this build.
        built: what was written.
    """
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": builder.dataset_name,
        "description": builder.description,
        "url": builder.info.homepage,
        "license": builder.licence,
        "inLanguage": "es",
        "version": str(VERSION),
        "datePublished": _PAPER_MONTH if builder.source.is_upstreams else None,
        "creator": {"@type": "sc:Organization", "name": _creator(builder)},
        "citeAs": builder.info.citation or None,
        "distribution": [_file(file) for config in built for file in config.files],
        "recordSet": [_record_set(config, file) for config in built for file in config.files],
    }
    return {key: value for key, value in described.items() if value is not None}


def _creator(builder: LyricSIM) -> str:
    if builder.source.sample:
        return f"the code's authors: {SAMPLE_NAME} is not LyricSIM"
    return builder.source.campaign or UPSTREAM_REPOSITORY


def _file(file: BuiltFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file.sha256,
    }


def _record_set(config: BuiltConfig, file: BuiltFile) -> dict[str, Any]:
    name = f"{config.name}/{file.split}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{config.summary} Split {file.split}: {file.rows} rows.",
        "field": [_field(name, column, file) for column in config.columns],
    }


def _field(record_set: str, column: Column, file: BuiltFile) -> dict[str, Any]:
    value = getattr(column.feature, "feature", column.feature)
    field = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column.name}",
        "name": column.name,
        "description": column.meaning,
        "dataType": _DATA_TYPES[value.dtype],
        "source": {"fileObject": {"@id": file.path}, "extract": {"column": column.name}},
    }
    return field if value is column.feature else {**field, "repeated": True}
