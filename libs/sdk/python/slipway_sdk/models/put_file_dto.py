from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PutFileDto")


@_attrs_define
class PutFileDto:
    """
    Attributes:
        content (str): The file, up to 8 MiB.
        path (str): Relative POSIX path of at most 1024 bytes, without . and .. Example: data/input.json.
        encoding (str | Unset): How content is written. One of `utf-8`, `base64`. `"utf-8"` unless given.
        mode (str | Unset): Permission bits, octal. `"0644"` unless given.
        overwrite (bool | Unset): false: refuse where there is a file already. `true` unless given.
        sha256 (str | Unset): SHA-256 of the file in hex; another one is refused.
    """

    content: str
    path: str
    encoding: str | Unset = UNSET
    mode: str | Unset = UNSET
    overwrite: bool | Unset = UNSET
    sha256: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        content = self.content

        path = self.path

        encoding = self.encoding

        mode = self.mode

        overwrite = self.overwrite

        sha256 = self.sha256

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "content": content,
                "path": path,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if mode is not UNSET:
            field_dict["mode"] = mode
        if overwrite is not UNSET:
            field_dict["overwrite"] = overwrite
        if sha256 is not UNSET:
            field_dict["sha256"] = sha256

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        content = d.pop("content")

        path = d.pop("path")

        encoding = d.pop("encoding", UNSET)

        mode = d.pop("mode", UNSET)

        overwrite = d.pop("overwrite", UNSET)

        sha256 = d.pop("sha256", UNSET)

        put_file_dto = cls(
            content=content,
            path=path,
            encoding=encoding,
            mode=mode,
            overwrite=overwrite,
            sha256=sha256,
        )

        put_file_dto.additional_properties = d
        return put_file_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
