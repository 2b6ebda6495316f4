from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="FileDto")


@_attrs_define
class FileDto:
    """
    Attributes:
        mode (str):  Example: 0644.
        modified_at (datetime.datetime):
        path (str): Relative POSIX path of at most 1024 bytes, without . and .. Example: data/input.json.
        sha256 (str): Hex.
        size_bytes (int):
        sync (str): Whether the external sandbox has it; none where there is none. One of `none`, `pending`, `synced`,
            `failed`.
        sync_error (None | str): Why it failed.
        sync_operation_id (None | str): The operation that passes it on.
        warnings (list[WarningDto] | Unset):
    """

    mode: str
    modified_at: datetime.datetime
    path: str
    sha256: str
    size_bytes: int
    sync: str
    sync_error: None | str
    sync_operation_id: None | str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        mode = self.mode

        modified_at = self.modified_at.isoformat()

        path = self.path

        sha256 = self.sha256

        size_bytes = self.size_bytes

        sync = self.sync

        sync_error: None | str
        sync_error = self.sync_error

        sync_operation_id: None | str
        sync_operation_id = self.sync_operation_id

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "mode": mode,
                "modified_at": modified_at,
                "path": path,
                "sha256": sha256,
                "size_bytes": size_bytes,
                "sync": sync,
                "sync_error": sync_error,
                "sync_operation_id": sync_operation_id,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        mode = d.pop("mode")

        modified_at = datetime.datetime.fromisoformat(d.pop("modified_at"))

        path = d.pop("path")

        sha256 = d.pop("sha256")

        size_bytes = d.pop("size_bytes")

        sync = d.pop("sync")

        def _parse_sync_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        sync_error = _parse_sync_error(d.pop("sync_error"))

        def _parse_sync_operation_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        sync_operation_id = _parse_sync_operation_id(d.pop("sync_operation_id"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        file_dto = cls(
            mode=mode,
            modified_at=modified_at,
            path=path,
            sha256=sha256,
            size_bytes=size_bytes,
            sync=sync,
            sync_error=sync_error,
            sync_operation_id=sync_operation_id,
            warnings=warnings,
        )

        file_dto.additional_properties = d
        return file_dto

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
