from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.sandbox_dto_labels import SandboxDtoLabels
    from ..models.warning_dto import WarningDto
    from ..models.workspace_dto import WorkspaceDto


T = TypeVar("T", bound="SandboxDto")


@_attrs_define
class SandboxDto:
    """
    Attributes:
        created_at (datetime.datetime):
        expires_at (datetime.datetime | None):
        id (str):
        labels (SandboxDtoLabels):
        provider (str): One of `local`, `e2b`, `daytona`, `custom`.
        reference_id (None | str):
        state (str): As last observed. An external sandbox is observed only when a file is passed on to it. One of
            `running`, `paused`, `stopped`, `archived`, `error`, `unknown`.
        state_observed_at (datetime.datetime | None): When it was; null = never.
        workspace (WorkspaceDto):
        warnings (list[WarningDto] | Unset):
    """

    created_at: datetime.datetime
    expires_at: datetime.datetime | None
    id: str
    labels: SandboxDtoLabels
    provider: str
    reference_id: None | str
    state: str
    state_observed_at: datetime.datetime | None
    workspace: WorkspaceDto
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        id = self.id

        labels = self.labels.to_dict()

        provider = self.provider

        reference_id: None | str
        reference_id = self.reference_id

        state = self.state

        state_observed_at: None | str
        if isinstance(self.state_observed_at, datetime.datetime):
            state_observed_at = self.state_observed_at.isoformat()
        else:
            state_observed_at = self.state_observed_at

        workspace = self.workspace.to_dict()

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
                "created_at": created_at,
                "expires_at": expires_at,
                "id": id,
                "labels": labels,
                "provider": provider,
                "reference_id": reference_id,
                "state": state,
                "state_observed_at": state_observed_at,
                "workspace": workspace,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.sandbox_dto_labels import SandboxDtoLabels
        from ..models.warning_dto import WarningDto
        from ..models.workspace_dto import WorkspaceDto

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        id = d.pop("id")

        labels = SandboxDtoLabels.from_dict(d.pop("labels"))

        provider = d.pop("provider")

        def _parse_reference_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reference_id = _parse_reference_id(d.pop("reference_id"))

        state = d.pop("state")

        def _parse_state_observed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                state_observed_at_type_0 = datetime.datetime.fromisoformat(data)

                return state_observed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        state_observed_at = _parse_state_observed_at(d.pop("state_observed_at"))

        workspace = WorkspaceDto.from_dict(d.pop("workspace"))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        sandbox_dto = cls(
            created_at=created_at,
            expires_at=expires_at,
            id=id,
            labels=labels,
            provider=provider,
            reference_id=reference_id,
            state=state,
            state_observed_at=state_observed_at,
            workspace=workspace,
            warnings=warnings,
        )

        sandbox_dto.additional_properties = d
        return sandbox_dto

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
